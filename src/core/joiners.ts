/** Recognizes the invisible joiners U+200C and U+200D where the reader sees their effect: in emoji, and in scripts that need them. */

/** Whether the character at this index joins two emoji to one visible character. */
export const joinsEmoji = (text: string, at: number): boolean =>
  text[at] === '\u200d' &&
  /[\p{Extended_Pictographic}\p{Emoji_Modifier}]\ufe0f?$/u.test(text.slice(Math.max(0, at - 3), at)) &&
  /^\p{Extended_Pictographic}/u.test(text.slice(at + 1, at + 3));

/** Whether the character at this index is a joiner after a letter of a script in which joiners change the shape of words. */
export const shapesLetter = (text: string, at: number): boolean =>
  (text[at] === '\u200c' || text[at] === '\u200d') &&
  /[\p{scx=Arab}\p{scx=Syrc}\p{scx=Mong}\p{scx=Nkoo}\p{scx=Deva}\p{scx=Beng}\p{scx=Guru}\p{scx=Gujr}\p{scx=Orya}\p{scx=Taml}\p{scx=Telu}\p{scx=Knda}\p{scx=Mlym}\p{scx=Sinh}\p{scx=Khmr}]$/u.test(
    text.slice(Math.max(0, at - 2), at),
  ) &&
  /[\p{L}\p{M}]$/u.test(text.slice(Math.max(0, at - 2), at));
