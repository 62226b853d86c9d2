export default {
  check: "Nothing has this address. Look whether it was typed or copied whole.",
  title: "There is nothing here",
};
