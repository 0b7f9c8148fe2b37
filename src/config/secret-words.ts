/** Hides texts that look like secrets in command lines and URLs, because a person's screen may be recorded. */

/** Matches the end of a name whose value is secret: `--api-key`, `GITHUB_TOKEN`, `Authorization`. */
const SECRET_NAME =
  /(?:^|[-_.])(?:token|key|apikey|secret|password|passwd|pwd|pass|auth|authorization|credentials?|bearer|pat|cookie|headers?|dsn)$/u;
const IS_FLAG = /^-{1,2}[A-Za-z]/u;
/** Flags of `docker` and `curl` whose value is an assignment or a header. The value itself names the secret. */
const NAMES_NEXT: ReadonlySet<string> = new Set(['-e', '--env', '-H', '--header']);
/** Matches `--flag=value`, `NAME=value` and `Name: value`. */
const PAIR = /^(?<name>-{0,2}[A-Za-z_][\w.-]*)(?<sign>=|:\s+)(?<value>.+)$/su;
const URL_IN = /\b[a-z][a-z0-9+.-]*:\/\/[^\s"'<>]+/giu;
/**
 * Matches keys in the forms of well-known services, and words of 24 or more letters and digits. Only such a word is captured.
 * Keys of npm begin with `npm_`, and names of packages may begin with `npm-`.
 */
const KEY =
  /\b(?:(?:sk|pk|rk|ghp|gho|ghs|ghu|github_pat|glpat|xox[abprs])[-_]|(?:npm|hf|ep)_)[\w-]{8,}|\bAKIA[A-Z0-9]{12,}|\bAIza[\w-]{20,}|\beyJ[\w-]{8,}(?:\.[\w-]+)*|([A-Za-z0-9]{24,})/gu;

const HIDDEN = '…';

/** Replaces each part of the words that looks like a secret by `…`. */
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

/** Hides the credentials, query values and fragments of URLs in a text, and the secret keys in the text. */
export const withoutSecretsIn = (text: string): string =>
  text
    .replaceAll(URL_IN, hiddenInUrl)
    .replaceAll(KEY, (_key, word?: string) => (word !== undefined && isWord(word) ? word : HIDDEN));

/** Matches words that make a name secret at any place of the name: `customApiKeyResponses`. */
const SECRET_PART = /api[-_]?key|secret|passw(?:or)?d|credential/iu;

/** Whether a setting with this name contains a secret, such as `apiKey` or `accessToken`. */
export const isSecretSetting = (name: string): boolean => isSecretName(name) || SECRET_PART.test(name);

const isSecretName = (name: string): boolean =>
  SECRET_NAME.test(
    name
      .replace(/^-+/u, '')
      .replaceAll(/(?<=[a-z])(?=[A-Z])/gu, '-')
      .toLowerCase(),
  );

/** Whether the match is ordinary text: a word without a digit, or a number without a letter. */
const isWord = (text: string): boolean => !/\d/u.test(text) || !/[A-Za-z]/u.test(text);

const hiddenInUrl = (url: string): string =>
  url
    .replace(/\/\/[^@/?#]*@/u, `//${HIDDEN}@`)
    .replace(/(?<=[?&][^=&#]+=)[^&#]+/gu, HIDDEN)
    .replace(/#.+$/u, `#${HIDDEN}`);
