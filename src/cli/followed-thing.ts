/** Parses the words after `earpiece follow`, and refuses words that name nothing that can be followed. */
import { statSync, type Stats } from 'node:fs';
import { resolve, sep } from 'node:path';
import { formatAddress, logOf } from '../core/address.ts';
import { defined } from '../core/defined.ts';
import { EarpieceError } from '../core/errors.ts';
import type { Until, What } from '../sources/follow/index.ts';
import type { UserInbox } from '../user-inbox.ts';
import { addressIn } from './context.ts';
import { agentHere } from './reader.ts';
import { plain } from './terminal.ts';

type Naming = { readonly match?: string; readonly value?: string; readonly until?: Until; readonly to?: string };

export const KINDS = ['pr', 'log', 'url', 'files', 'git', 'agent', 'lsp'] as const;
export type Kind = (typeof KINDS)[number];
/** Whether the first word of `follow` names a kind of thing. Any other word begins a command. */
export const isKind = (word: string): word is Kind => (KINDS as readonly string[]).includes(word);

/**
 * Returns the thing that the words after `follow <kind>` name. Throws `bad_argument`, `bad_address` or `not_found` for words that
 * name no such thing.
 */
export async function whatOf(
  kind: Kind,
  words: readonly string[],
  { match, value, until, to }: Naming,
  ear: UserInbox,
): Promise<What> {
  const [first, second] = words;
  if (second !== undefined && kind !== 'files' && kind !== 'lsp')
    throw new EarpieceError(
      'bad_argument',
      `follow ${kind} takes at most one argument, got ${JSON.stringify(words.join(' ').slice(0, 80))}; run one command for each`,
    );
  if (kind === 'pr') {
    const { CannotLook, findPr, isFollowed } = await import('../sources/follow/index.ts');
    if (first?.trim() === '')
      throw new EarpieceError(
        'bad_argument',
        'follow pr got an empty argument; leave the argument out to follow the pull request of this branch',
      );
    if (first !== undefined) await checkPr(first);
    return findPr(process.cwd(), first, { isFollowed: (pr) => isFollowed(ear.store, ear.project, pr) }).catch(
      (error: unknown) => {
        if (error instanceof CannotLook)
          throw new EarpieceError(error.lasting ? 'upstream' : 'not_found', `follow pr: ${error.message}`);
        throw error;
      },
    );
  }
  if (kind === 'git') {
    if (first !== undefined)
      throw new EarpieceError(
        'bad_argument',
        `follow git takes no argument, got ${JSON.stringify(first.slice(0, 80))}; leave the argument out`,
      );
    const { worktreeOf } = await import('../inbox/index.ts');
    const { checkRepository } = await import('../sources/follow/index.ts');
    const folder = worktreeOf(process.cwd());
    await checkRepository(folder, 'follow git');
    return { kind, folder };
  }
  if (first === undefined || first.trim() === '') throw new EarpieceError('bad_argument', `follow ${kind} needs ${NEEDS[kind]}`);
  if (kind === 'files') return { kind, folder: process.cwd(), globs: await globsOf(words) };
  if (kind === 'lsp') {
    await checkProgram(first);
    return { kind, folder: process.cwd(), command: words };
  }
  if (kind === 'agent') return { kind, log: await agentOf(ear, first, to), until: until ?? 'idle' };
  if (kind === 'url') return { kind, url: await addressOf(first), ...defined({ value: pathOf(value) }) };
  if (match === undefined)
    throw new EarpieceError(
      'bad_argument',
      `follow log ${first} needs --match <re> for the lines to report, such as --match ERROR`,
    );
  const { patternOf, unlinkedLog } = await import('../sources/follow/index.ts');
  patternOf(match);
  if ((await agentHere(ear.config)) === undefined) return { kind, file: logFileOf(first, first), match };
  const { worktreeOf } = await import('../inbox/index.ts');
  return { kind, file: logFileOf(unlinkedLog(worktreeOf(process.cwd()), first), first), match };
}

/** Throws if the word cannot name a pull request, before `gh` is called. */
async function checkPr(word: string): Promise<void> {
  if (/^https?:\/\//u.test(word) && !/^https?:\/\/[^/]+\/[^/]+\/[^/]+\/pull\/\d+/u.test(word))
    throw new EarpieceError(
      'bad_argument',
      `follow pr ${JSON.stringify(word.slice(0, 200))} is not the URL of a GitHub pull request; write e.g. https://github.com/acme/shop/pull/12`,
    );
  if (/^#?\d+$|^https?:\/\/|:/u.test(word)) return;
  const { isKnownBranch } = await import('../sources/follow/index.ts');
  if ((await isKnownBranch(process.cwd(), word)) !== false) return;
  throw new EarpieceError(
    'bad_argument',
    `follow pr ${JSON.stringify(word.slice(0, 80))} is neither a number, a URL nor a known branch of this repository; to get new remote branches: git fetch`,
  );
}

/** Throws if the program of a language server does not exist. */
async function checkProgram(program: string): Promise<void> {
  const { onPath } = await import('./shell.ts');
  const found = program.includes(sep) ? statSync(resolve(program), { throwIfNoEntry: false }) : onPath(program, process.env);
  if (found !== undefined) return;
  throw new EarpieceError(
    'not_found',
    `follow lsp: the program ${JSON.stringify(program.slice(0, 80))} does not exist; install the program, or write its path`,
  );
}

const NEEDS = {
  log: 'a file: earpiece follow log app.log --match ERROR',
  url: 'a URL: earpiece follow url http://localhost:3000/health',
  files: "globs, such as 'docs/**'",
  agent: 'the name of an agent',
  lsp: 'a language server: earpiece follow lsp -- npx typescript-language-server --stdio',
};
const MAX_GLOBS = 50;

/** Returns the absolute path of a log. The file may not exist yet. `text`: the path that the user has written. */
function logFileOf(path: string, text: string): string {
  const file = resolve(path);
  const stat = logStat(file, text);
  if (stat !== undefined && !stat.isFile())
    throw new EarpieceError('bad_argument', `follow log ${plain(text, 200)} is not a regular file; name one log file`);
  if (stat === undefined && /[*?]/u.test(text))
    throw new EarpieceError(
      'bad_argument',
      `follow log follows one file, and ${plain(text, 200)} does not exist; name one log file`,
    );
  return file;
}

function logStat(file: string, text: string): Stats | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false });
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    throw new EarpieceError(
      'bad_argument',
      `follow log ${plain(text, 200)} cannot be opened (${code}); name a log file that this user can read`,
    );
  }
}

function pathOf(value: string | undefined): string | undefined {
  if (value === undefined || /^[^.]+(?:\.[^.]+)*$/u.test(value)) return value;
  throw new EarpieceError(
    'bad_argument',
    `--value must be a path such as status.state, got ${JSON.stringify(value.slice(0, 80))}`,
  );
}

async function globsOf(globs: readonly string[]): Promise<readonly string[]> {
  const { globProblem, withSlash } = await import('../sources/files/index.ts');
  if (globs.length > MAX_GLOBS)
    throw new EarpieceError(
      'bad_argument',
      `follow files takes at most ${MAX_GLOBS} globs, got ${globs.length}; put each glob in quotes, so that the shell does not expand the glob`,
    );
  for (const glob of globs) {
    const problem = globProblem(glob);
    if (problem !== undefined)
      throw new EarpieceError('bad_argument', `the glob ${JSON.stringify(glob.slice(0, 80))} ${problem}`);
  }
  if (globs.every((glob) => glob.startsWith('!')))
    throw new EarpieceError(
      'bad_argument',
      `the globs ${globs.join(' ').slice(0, 80)} only exclude files; name the files to follow`,
    );
  return globs.map((glob) => withSlash(process.cwd(), glob));
}

async function agentOf(ear: UserInbox, word: string, to: string | undefined): Promise<string> {
  const address = addressIn(ear.config, word);
  if (address.kind === 'project') throw new EarpieceError('bad_address', `${word} is a whole project; name one agent`);
  const log = logOf(address);
  if (to !== undefined && formatAddress(addressIn(ear.config, to)) === log)
    throw new EarpieceError(
      'bad_argument',
      `follow agent ${word} would notify ${word} about itself; name another agent with --to`,
    );
  const { checkKnown } = await import('../talk/index.ts');
  await checkKnown(ear, log, address.project, { shown: JSON.stringify(word), names: 'earpiece agents' });
  return log;
}

async function addressOf(text: string): Promise<string> {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol))
    throw new EarpieceError(
      'bad_argument',
      `follow url ${JSON.stringify(text.slice(0, 80))} is not a valid http or https URL; write e.g. http://localhost:3000/health`,
    );
  if (url.username !== '' || url.password !== '')
    throw new EarpieceError('bad_argument', 'follow url does not store a user name or password; remove both from the URL');
  const { portProblem } = await import('../sources/follow/index.ts');
  const problem = portProblem(url);
  if (problem !== undefined)
    throw new EarpieceError('bad_argument', `follow url ${JSON.stringify(text.slice(0, 80))} ${problem}`);
  return url.href;
}
