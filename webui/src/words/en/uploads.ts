import { number } from "../formats";

export default {
  sending: (name: string, percent: number) => `Sending ${name}: ${number(percent)}%`,
  waiting: (name: string) => `${name} is kept here and is sent when a server can be reached.`,
  failed: (name: string) => `${name} was not taken.`,
  retry: "Send again",
  cancel: "Cancel",
  remove: "Remove",
  description: "What the image shows, for those who cannot see it",
  save: "Save",
};
