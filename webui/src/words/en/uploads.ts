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
  no_such_picture: "This picture is not there any more.",
  unknown_picture: "The picture to be copied is not there any more.",
  not_a_picture: "This is no picture that a document can show. Take a PNG, JPEG, GIF or WebP file.",
  bad_picture: "This picture is damaged, or too large to be shown.",
  no_room: "The servers have no room for this picture.",
};
