export default {
  image: "Image",
  addImage: "Add an image",
  caption: "Caption",
  describe: "Describe the image",
  describeAgain: "Change the description",
  noDescription: "Image without a description",
  cannotShow: "This image cannot be shown now.",
  showAgain: "Try again",
};
