export default {
  handle: "Drag to move; Alt with the arrows does the same",
};
