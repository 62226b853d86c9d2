export default {
  close: "Close",
  goTo: "Go to",
  goToPerson: (name: string) => `Go to ${name}`,
  follow: "Follow",
  followPerson: (name: string) => `Follow ${name}`,
  showCarets: "Show the others' carets in the text",
  showOwn: "Show others where I am",
  nameIsShown: "Your name is shown to all who have the document open.",
  bringEveryone: "Bring everyone here",
  areAsked: "The others are asked to come to where you are.",
  showFirst: "To call the others, show them where you are.",
};
