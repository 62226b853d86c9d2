export default {
  link: "Link",
  address: "Address",
  change: "Change",
  open: "Open",
  remove: "Remove",
  cancel: "Cancel",
  noAddress: "This is no address. Write one like https://example.org, or an e-mail address.",
};
