import type english from "../en/panel";
import type { Translation } from "../language";

export default {
  close: "Schließen",
  goTo: "Hingehen",
  goToPerson: (name) => `Zu ${name} gehen`,
  follow: "Folgen",
  followPerson: (name) => `${name} folgen`,
  showCarets: "Schreibmarken der anderen im Text zeigen",
  showOwn: "Anderen zeigen, wo ich bin",
  nameIsShown: "Ihren Namen sehen alle, die das Dokument offen haben.",
  bringEveryone: "Alle hierher rufen",
  areAsked: "Die anderen werden gebeten, zu Ihnen zu kommen.",
  showFirst: "Um die anderen zu rufen, zeigen Sie ihnen, wo Sie sind.",
} satisfies Translation<typeof english>;
