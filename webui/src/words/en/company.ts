export default {
  yourName: "Your name, shown to others",
  following: (name: string) => `You follow ${name}.`,
  stop: "Stop",
  called: (name: string) => `${name} asks you to come to where they are.`,
  go: "Go",
  notNow: "Not now",
};
