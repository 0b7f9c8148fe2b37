/** Hides the secrets of servers in a text of settings, because a person's screen may be recorded. */
import { parseJsonc, type Node } from './jsonc.ts';
import { piecesOf } from './positions.ts';
import { isSecretSetting, withoutSecretsIn, withoutSecretWords } from './secret-words.ts';

/** Members that contain secrets in the settings of any agent. */
const HOLDERS: ReadonlySet<string> = new Set(['env', 'environment', 'headers', 'http_headers']);
const holdsSecrets = (name: string): boolean => HOLDERS.has(name) || isSecretSetting(name);

/**
 * The members of Gemini CLI and Qwen Code that name a way to sign in. Their path contains `auth`, which looks like the name of a
 * secret.
 */
const SIGN_IN = ['selectedType', 'enforcedType'].map((name) => ['security', 'auth', name]);

/** Members that contain the command line of a server. */
const WORDS: ReadonlySet<string> = new Set(['command', 'args']);

/**
 * A part of the text to hide. `shown` replaces the part. Without `shown`, the part becomes `"…"`, or a comment with the text `…`.
 */
type Span = { readonly at: number; readonly end: number; readonly shown?: string };

/**
 * Replaces every text and number below a member with secrets by `"…"`, and the text of every comment by `…`, because people
 * comment out settings. In commands and other texts, only the parts that look like secrets are replaced. In JSON that cannot be
 * parsed, each line becomes `…`. The number of lines stays the same. A text in another format is returned unchanged.
 */
export function veiled(text: string, file: string): string {
  const spans = file.endsWith('.toml') ? inToml(text) : /\.jsonc?$/u.test(file) && text.trim() !== '' ? inJson(text) : [];
  if (spans === undefined) return text.replaceAll(/[^\r\n]+/gu, '…');
  let shown = '';
  let from = 0;
  for (const span of spans) {
    shown += text.slice(from, span.at) + inPlaceOf(text.slice(span.at, span.end), span.shown);
    from = span.end;
  }
  return shown + text.slice(from);
}

function inPlaceOf(hidden: string, shown: string | undefined): string {
  const breaks = hidden.replaceAll(/[^\n]/gu, '');
  if (shown !== undefined) return shown + breaks;
  if (hidden.startsWith('#')) return '#…';
  if (hidden.startsWith('//')) return `//…${breaks}`;
  return hidden.startsWith('/*') ? `/*…${breaks}*/` : `"…"${breaks}`;
}

/** Finds the parts to hide in JSON; returns undefined for a text that is not JSON. */
function inJson(text: string): readonly Span[] | undefined {
  const parsed = parseJsonc(text);
  if (parsed.kind === 'malformed') return undefined;
  const spans: Span[] = [...parsed.comments];
  const show = (node: Node, value: string): void => {
    if (node.kind === 'scalar' && value !== node.value) spans.push({ ...node, shown: JSON.stringify(value) });
  };
  const plain = new Set(SIGN_IN.map((path) => path.reduce<Node | undefined>(memberOf, parsed.root)));
  const walk = (node: Node, isBelow: boolean): void => {
    if (node.kind === 'object') {
      for (const [name, inner] of [...node.members, ...(node.replaced ?? [])]) {
        if (!isBelow && WORDS.has(name) && inner.kind !== 'object') showWords(inner);
        else walk(inner, isBelow || holdsSecrets(name));
      }
    } else if (node.kind === 'array') for (const inner of node.elements) walk(inner, isBelow);
    else if (isBelow && !plain.has(node) && (typeof node.value === 'string' || typeof node.value === 'number')) spans.push(node);
    else if (typeof node.value === 'string') show(node, withoutSecretsIn(node.value));
  };
  const showWords = (node: Node): void => {
    const nodes = node.kind === 'array' ? node.elements : [node];
    const texts = nodes.map((each) => (each.kind === 'scalar' && typeof each.value === 'string' ? each.value : ''));
    const words = node.kind === 'array' ? withoutSecretWords(texts) : texts.map((line) => withoutSecretsInLine(line));
    for (const [n, each] of nodes.entries()) if (texts[n] !== '') show(each, words[n] ?? '');
  };
  walk(parsed.root, false);
  return spans.toSorted((a, b) => a.at - b.at);
}

const memberOf = (node: Node | undefined, name: string): Node | undefined =>
  node?.kind === 'object' ? node.members.get(name) : undefined;

/** Hides the secrets in a command line that is one text, and keeps its white space. */
function withoutSecretsInLine(line: string): string {
  const parts = line.split(/(\s+)/u);
  const shown = withoutSecretWords(parts.filter((_, n) => n % 2 === 0));
  return parts.map((part, n) => (n % 2 === 0 ? shown[n / 2] : part)).join('');
}

/**
 * Finds the parts to hide in TOML. Values below a member with secrets are hidden as a whole, because only the content of an
 * inline table has separate places.
 */
function inToml(text: string): readonly Span[] {
  const pairs = piecesOf(text).filter((piece) => piece.kind === 'pair');
  const below = pairs.filter(({ path }) =>
    path.some((part, i) => (i < path.length - 1 ? holdsSecrets(String(part)) : isSecretSetting(String(part)))),
  );
  const whole = below
    .filter((pair) => !below.some((other) => other !== pair && other.value > pair.value && other.end <= pair.end))
    .map(({ value, end }) => ({ at: value, end }));
  const texts = pairs
    .filter((pair) => !below.includes(pair) && !pairs.some(({ value, end }) => value > pair.value && end <= pair.end))
    .flatMap(({ path, value, end }) => textsInToml(text, { at: value, end }, WORDS.has(String(path.at(-1)))));
  const comments = [...text.matchAll(TOML_TEXT)]
    .filter(([spelled]) => spelled.startsWith('#'))
    .map(({ 0: spelled, index }) => ({ at: index, end: index + spelled.length }))
    .filter(({ at }) => !whole.some((span) => span.at < at && at < span.end));
  return [...whole, ...texts, ...comments].toSorted((a, b) => a.at - b.at);
}

/** Matches a comment, or a text in one of the four spellings. */
const TOML_TEXT = /#[^\n]*|"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:\\.|[^"\\\n])*"|'[^'\n]*'/gu;

function textsInToml(text: string, { at, end }: Span, areWords: boolean): readonly Span[] {
  const found = [...text.slice(at, end).matchAll(TOML_TEXT)].filter(([spelled]) => !spelled.startsWith('#'));
  const inner = found.map(([spelled]) => /^(?:"""|'''|"|')([\s\S]*?)(?:"""|'''|"|')$/u.exec(spelled)?.[1] ?? '');
  const shown =
    areWords && found.length > 1
      ? withoutSecretWords(inner)
      : inner.map((each) => (areWords ? withoutSecretsInLine : withoutSecretsIn)(each));
  return found.flatMap(([spelled], n) => {
    if (shown[n] === inner[n]) return [];
    const from = at + (found[n]?.index ?? 0);
    return { at: from, end: from + spelled.length, shown: `"${shown[n]?.replaceAll('\n', ' ')}"` };
  });
}
