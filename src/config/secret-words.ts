/** Command lines and addresses as a person may be shown them, on a screen that may be recorded: without what looks like a secret. */

/** The end of a name whose value is secret: `--api-key`, `GITHUB_TOKEN`, `Authorization`. */
const SECRET_NAME =
  /(?:^|[-_.])(?:token|key|apikey|secret|password|passwd|pwd|pass|auth|authorization|credentials?|bearer|pat|cookie|headers?|dsn)$/u;
const IS_FLAG = /^-{1,2}[A-Za-z]/u;
/** Flags of `docker` and `curl` whose value is an assignment or a header. */
const NAMES_NEXT: ReadonlySet<string> = new Set(['-e', '--env', '-H', '--header']);
/** `--flag=value`, `NAME=value`, `Name: value`. */
const PAIR = /^(?<name>-{0,2}[A-Za-z_][\w.-]*)(?<sign>=|:\s+)(?<value>.+)$/su;
const URL_IN = /\b[a-z][a-z0-9+.-]*:\/\/[^\s"'<>]+/giu;
/** Keys as well-known services write them, and words that no person has written: letters and digits mixed. */
const KEY =
  /\b(?:sk|pk|rk|ghp|gho|ghs|ghu|github_pat|glpat|xox[abprs]|npm|hf|ep)[-_][\w-]{8,}|\bAKIA[A-Z0-9]{12,}|\bAIza[\w-]{20,}|\beyJ[\w-]{8,}(?:\.[\w-]+)*|[A-Za-z0-9]{24,}/gu;

const HIDDEN = '…';

/** The same words, with each part that looks like a secret as `…`. */
export function withoutSecretWords(words: readonly string[]): readonly string[] {
  return words.map((word, at) => {
    const before = words[at - 1] ?? '';
    const pair = PAIR.exec(word)?.groups;
    if (pair !== undefined && (NAMES_NEXT.has(before) || isSecretName(pair['name'] ?? '')))
      return `${pair['name']}${pair['sign']}${HIDDEN}`;
    if (IS_FLAG.test(before) && !before.includes('=') && !IS_FLAG.test(word) && isSecretName(before)) return HIDDEN;
    return withoutSecretsIn(word);
  });
}

/** A text with addresses and keys in it: no password, no value of a query, no key. */
export const withoutSecretsIn = (text: string): string =>
  text.replaceAll(URL_IN, hiddenInUrl).replaceAll(KEY, (word) => (isWord(word) ? word : HIDDEN));

const isSecretName = (name: string): boolean =>
  SECRET_NAME.test(
    name
      .replace(/^-+/u, '')
      .replaceAll(/(?<=[a-z])(?=[A-Z])/gu, '-')
      .toLowerCase(),
  );

/** Only the last alternative of `KEY` may match a word of a language. */
const isWord = (text: string): boolean => !/\d/u.test(text) || !/[A-Za-z]/u.test(text);

const hiddenInUrl = (url: string): string =>
  url
    .replace(/\/\/[^@/?#]*@/u, `//${HIDDEN}@`)
    .replace(/(?<=[?&][^=&#]+=)[^&#]+/gu, HIDDEN)
    .replace(/#.+$/u, `#${HIDDEN}`);
