export default {
  language: "Language of the code",
  noLanguage: "Plain text",
};
