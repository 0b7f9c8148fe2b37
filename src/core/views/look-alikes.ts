/**
 * Characters that look like a character of the frame, as the inside of a character class (flag v). A character is listed if its
 * NFKD form, in lower case and without marks, is the frame's character. Characters that Unicode lists as confusable with it are
 * listed too. `look-alikes.test.ts` checks the NFKD rule for all of Unicode.
 */
/** The look-alikes of `e`. */
export const LIKE_E =
  String.raw`\u{45}\u{65}\u{c8}-\u{cb}\u{e8}-\u{eb}\u{112}-\u{11b}\u{18e}\u{190}\u{1dd}\u{204}-\u{207}\u{228}\u{229}\u{258}` +
  String.raw`\u{25b}\u{388}\u{395}\u{3ad}\u{3b5}\u{3f5}\u{400}\u{401}\u{404}\u{415}\u{42d}\u{435}\u{44d}\u{450}\u{451}\u{454}` +
  String.raw`\u{4bc}-\u{4bf}\u{4d6}\u{4d7}\u{4ec}\u{4ed}\u{13ac}\u{1971}\u{1d07}\u{1d31}\u{1d32}\u{1d49}\u{1d4b}\u{1e14}-\u{1e1d}` +
  String.raw`\u{1eb8}-\u{1ec7}\u{1f10}-\u{1f15}\u{1f18}-\u{1f1d}\u{1f72}\u{1f73}\u{1fc8}\u{1fc9}\u{2091}\u{2107}\u{212e}-\u{2130}` +
  String.raw`\u{2147}\u{22ff}\u{24ba}\u{24d4}\u{2c7b}\u{2c88}\u{2c89}\u{2d39}\u{a4f0}\u{ab32}\u{ab7c}\u{ff25}\u{ff45}\u{10286}` +
  String.raw`\u{1078e}\u{118a6}\u{118ae}\u{118c6}\u{118ce}\u{1ccda}\u{1d404}\u{1d41e}\u{1d438}\u{1d452}\u{1d46c}\u{1d486}` +
  String.raw`\u{1d4d4}\u{1d4ee}\u{1d508}\u{1d522}\u{1d53c}\u{1d556}\u{1d570}\u{1d58a}\u{1d5a4}\u{1d5be}\u{1d5d8}\u{1d5f2}` +
  String.raw`\u{1d60c}\u{1d626}\u{1d640}\u{1d65a}\u{1d674}\u{1d68e}\u{1d6ac}\u{1d6c6}\u{1d6dc}\u{1d6e6}\u{1d700}\u{1d716}` +
  String.raw`\u{1d720}\u{1d73a}\u{1d750}\u{1d75a}\u{1d774}\u{1d78a}\u{1d794}\u{1d7ae}\u{1d7c4}\u{1e035}\u{1e048}\u{1e056}` +
  String.raw`\u{1f134}\u{1f154}\u{1f174}\u{1f1ea}`;

/** The look-alikes of `p`. */
export const LIKE_P =
  String.raw`\u{50}\u{70}\u{de}\u{fe}\u{1bf}\u{1f7}\u{3a1}\u{3c1}\u{3f1}\u{3fc}\u{420}\u{440}\u{48e}\u{48f}\u{13e2}\u{146d}` +
  String.raw`\u{1d18}\u{1d3e}\u{1d56}\u{1d68}\u{1e54}-\u{1e57}\u{1fe4}\u{1fe5}\u{1fec}\u{209a}\u{2119}\u{2374}\u{24c5}\u{24df}` +
  String.raw`\u{2ca2}\u{2ca3}\u{a4d1}\u{abb2}\u{ff30}\u{ff50}\u{10295}\u{1cce5}\u{1d40f}\u{1d429}\u{1d443}\u{1d45d}\u{1d477}` +
  String.raw`\u{1d491}\u{1d4ab}\u{1d4c5}\u{1d4df}\u{1d4f9}\u{1d513}\u{1d52d}\u{1d561}\u{1d57b}\u{1d595}\u{1d5af}\u{1d5c9}` +
  String.raw`\u{1d5e3}\u{1d5fd}\u{1d617}\u{1d631}\u{1d64b}\u{1d665}\u{1d67f}\u{1d699}\u{1d6b8}\u{1d6d2}\u{1d6e0}\u{1d6f2}` +
  String.raw`\u{1d70c}\u{1d71a}\u{1d72c}\u{1d746}\u{1d754}\u{1d766}\u{1d780}\u{1d78e}\u{1d7a0}\u{1d7ba}\u{1d7c8}\u{1e03e}` +
  String.raw`\u{1f13f}\u{1f15f}\u{1f17f}\u{1f1f5}`;

/** The look-alikes of `/`. */
export const LIKE_SLASH =
  String.raw`\u{2f}\u{1735}\u{2041}\u{2044}\u{2215}\u{2571}\u{27cb}\u{29f8}\u{2cc6}\u{2cc7}\u{2f03}\u{3033}\u{30ce}\u{31d3}` +
  String.raw`\u{32e8}\u{4e3f}\u{ff0f}\u{ff89}\u{1d23a}`;

/** Matches `“`, `”`, each character that looks like one of them, and two equal single marks in a row. */
export const LIKE_QUOTE =
  /[\u{2ba}\u{2dd}\u{2ee}\u{2f6}\u{5f4}\u{1cd3}\u{201c}-\u{201f}\u{2033}\u{2036}\u{275d}\u{275e}\u{2760}\u{2e42}\u{3003}\u{301d}-\u{301f}\u{ff02}\u{1f676}-\u{1f678}]|([\u{2018}-\u{201b}\u{275b}\u{275c}])\1/gu;
