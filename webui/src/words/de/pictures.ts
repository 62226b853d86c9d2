import type english from "../en/pictures";
import type { Translation } from "../language";

export default {
  image: "Bild",
  addImage: "Bild einfügen",
  caption: "Bildunterschrift",
  describe: "Bild beschreiben",
  describeAgain: "Beschreibung ändern",
  noDescription: "Bild ohne Beschreibung",
  cannotShow: "Dieses Bild kann gerade nicht gezeigt werden.",
  showAgain: "Noch einmal versuchen",
} satisfies Translation<typeof english>;
