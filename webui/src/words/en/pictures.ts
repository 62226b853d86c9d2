import { number } from "../formats";

export default {
  image: "Image",
  addImage: "Add an image",
  caption: "Caption",
  describe: "Describe the image",
  describeAgain: "Change the description",
  description: "What the image shows, for those who cannot see it",
  save: "Save",
  noDescription: "Image without a description",
  cannotShow: "This image cannot be shown now.",
  showAgain: "Try again",
  sending: (name: string, percent: number) => `Sending ${name}: ${number(percent)}%`,
  waiting: (name: string) => `${name} is kept here and is sent when a server can be reached.`,
  failed: (name: string) => `${name} was not taken.`,
  retry: "Send again",
  cancel: "Cancel",
  remove: "Remove",
};
