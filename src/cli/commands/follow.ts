import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { formatAddress, logOf, type Address } from '../../core/address.ts';
import { defined } from '../../core/defined.ts';
import { EarpieceError } from '../../core/errors.ts';
import type { UserInbox } from '../../user-inbox.ts';
import type { Followed, Until, What } from '../../sources/follow/index.ts';
import { choice, type Answer, type CommandLine } from '../command-line.ts';
import { addressIn, durationOption, speaker, withInbox, type GlobalOptions } from '../context.ts';
import { readerOf } from '../reader.ts';
import { paint, plain, print, printJson } from '../terminal.ts';

export type FollowOptions = GlobalOptions & {
  readonly to?: string;
  readonly keep?: boolean;
  readonly match?: string;
  readonly value?: string;
  readonly every?: string;
  readonly level?: NonNullable<Followed['level']>;
  readonly name?: string;
  readonly matcher?: string;
  readonly look?: string;
  readonly offer?: string;
  readonly until?: Until;
};

export function follow(command: CommandLine, answer: Answer): void {
  command
    .description(
      'Notifies an agent of changes outside its conversation. `pr` follows a pull request of GitHub through your `gh`: failing checks with the important lines, reviews, comments and conflicts. ' +
        '`log` follows a file, `url` an address, `files` the files that globs match, and `git` the branch, its upstream and conflicts. ' +
        '`lsp` follows the errors that a language server finds in changed files, `agent` follows another agent until that agent is idle, blocked or done. ' +
        'Followed things are checked while a session of this project is active. The first check of a session also reports changes since the last session. ' +
        'Anything else is a command, which runs here as usual. The agent is notified of the errors that the command prints. Fixed errors are withdrawn.',
    )
    .option(
      '--to <address>',
      'the agent to notify (default: the agent of this shell, otherwise all active agents of this project)',
    )
    .option('--keep', 'continue when no session is active')
    .option('--match <re>', 'log: the lines to report, as a regular expression')
    .option('--value <path>', 'url: the path of a value in the JSON answer, such as status.state')
    .addOption(choice('--until <state>', ['idle', 'blocked', 'done'], 'agent: the state to wait for (default: idle)'))
    .option(
      '--every <duration>',
      'the time between two checks, at least 10s (default: pr 30s to 60s, url 30s, files and git 5s, agent 2s, log 1s)',
    )
    .addOption(
      choice(
        '--level <level>',
        ['info', 'warning', 'error'],
        'log, url: the level of notifications (default: log warning, url error)',
      ),
    )
    .option('--name <label>', 'the name of a command in notifications')
    .option('--matcher <names>', 'more problem matchers for a command, from earpiece.toml, separated by commas')
    .addOption({ flags: '--look <project>', description: 'check what this project follows', hidden: true })
    .addOption({
      flags: '--offer <address>',
      description: 'offer an agent to follow the pull request of its branch',
      hidden: true,
    })
    .onMistake('write -- before the command: earpiece follow -- <command>, earpiece follow lsp -- <command>')
    .example(
      `earpiece follow pr                     # of the current branch
earpiece follow pr 123 --to coder
earpiece follow log app.log --match ERROR
earpiece follow url http://localhost:3000/health
earpiece follow files 'docs/**'
earpiece follow agent reviewer --until idle
earpiece follow lsp -- npx typescript-language-server --stdio
earpiece follow -- npm run dev`,
    )
    .action(async (words: string[], options: FollowOptions) => {
      if (options.look !== undefined) {
        const { runLooker } = await import('../looker.ts');
        return runLooker(options.look, options);
      }
      if (options.offer !== undefined) {
        const { offer } = await import('../offer.ts');
        return offer(options.offer, options);
      }
      const [kind, ...rest] = words;
      if (kind === undefined)
        throw new EarpieceError('bad_argument', `nothing to follow was named; write ${KINDS.join(', ')} or a command`);
      if (kind.trim() === '') throw new EarpieceError('bad_argument', 'the command must not be empty, such as: npm run dev');
      if (!isKind(kind) || isCommand(words)) {
        checkOptions('a command', options);
        const { followCommand } = await import('../follow-command.ts');
        return answer(await followCommand(words, options));
      }
      checkOptions(kind, options);
      await withInbox(options, async (ear) => {
        const what = await whatOf(kind, rest, options, ear);
        await begin(ear, what, options);
      });
    });
}

const KINDS = ['pr', 'log', 'url', 'files', 'git', 'agent', 'lsp'] as const;
type Kind = (typeof KINDS)[number];
const isKind = (word: string): word is Kind => (KINDS as readonly string[]).includes(word);

/** The options that only some kinds have, and how to write them. */
const ONLY: Readonly<Record<string, { readonly kinds: readonly string[]; readonly write: string }>> = {
  match: { kinds: ['log'], write: 'follow log <file>' },
  value: { kinds: ['url'], write: 'follow url <url>' },
  until: { kinds: ['agent'], write: 'follow agent <agent>' },
  level: { kinds: ['log', 'url'], write: 'follow log <file> and follow url <url>' },
  name: { kinds: ['a command'], write: 'follow -- <command>' },
  matcher: { kinds: ['a command'], write: 'follow -- <command>' },
  every: { kinds: KINDS, write: 'things that are checked from time to time' },
  keep: { kinds: KINDS, write: 'things that are checked from time to time' },
};

/** Throws if an option has no effect for this kind, or is empty. */
function checkOptions(kind: string, options: FollowOptions): void {
  if (options.name?.trim() === '')
    throw new EarpieceError('bad_argument', '--name must not be empty; leave it out for the command itself');
  if (options.matcher?.trim() === '')
    throw new EarpieceError('bad_argument', '--matcher must not be empty; leave it out for the shipped problem matchers');
  for (const [name, { kinds, write }] of Object.entries(ONLY))
    if (options[name as keyof FollowOptions] !== undefined && !kinds.includes(kind))
      throw new EarpieceError('bad_argument', `--${name} works only with ${write}, not with ${kind}`);
}

/** `follow -- git fetch` runs git. */
const isCommand = (words: readonly string[]): boolean => process.argv.at(-words.length - 1) === '--';

async function begin(ear: UserInbox, what: What, options: FollowOptions): Promise<void> {
  const { add, nameOf } = await import('../../sources/follow/index.ts');
  const { startLooker } = await import('../looker.ts');
  const everyMs = options.every === undefined ? undefined : everyOf(options.every);
  const by = speaker()?.log;
  const { followed, known } = await add(ear.store, ear.project, {
    uid: ear.ids.make('f'),
    what,
    to: await receiverOf(ear, options.to),
    ...(options.keep ? { keep: true as const } : {}),
    ...(by === undefined ? {} : { by: by === '' ? 'an agent' : by }),
    ...defined({ everyMs, level: options.level }),
  });
  const there = followed.keep === true || (await ear.active({ project: ear.project })).length > 0;
  if (there) await startLooker(ear, ear.config.root);
  if (options.json) return printJson({ id: followed.id, what, to: followed.to, known });
  const title = what.kind === 'pr' && what.title !== undefined ? ` ${JSON.stringify(plain(what.title, 80))}` : '';
  print(
    `${paint('bold', followed.id)}  ${plain(nameOf(followed))}${title}, for ${plain(followed.to)}${known ? '; already followed, and checked again now' : ''}${there ? '' : '; Earpiece checks it from the next session on, or from now on with --keep'}`,
  );
}

const LEAST_MS = 10_000;
const MOST_MS = 86_400_000;

function everyOf(text: string): number {
  const ms = durationOption('--every', text);
  if (ms >= LEAST_MS && ms <= MOST_MS) return ms;
  throw new EarpieceError('bad_argument', `--every must be 10s to 1d, got ${text}`);
}

async function whatOf(
  kind: Kind,
  words: readonly string[],
  { match, value, until, to }: FollowOptions,
  ear: UserInbox,
): Promise<What> {
  const [first, second] = words;
  if (second !== undefined && kind !== 'files' && kind !== 'lsp')
    throw new EarpieceError(
      'bad_argument',
      `follow ${kind} needs exactly one argument, got ${JSON.stringify(words.join(' ').slice(0, 80))}`,
    );
  if (kind === 'pr') {
    const { CannotLook, findPr, isFollowed } = await import('../../sources/follow/index.ts');
    if (first !== undefined) await checkPr(first);
    return findPr(process.cwd(), first, { isFollowed: (pr) => isFollowed(ear.store, ear.project, pr) }).catch(
      (error: unknown) => {
        if (error instanceof CannotLook) throw new EarpieceError('not_found', `follow pr: ${error.message}`);
        throw error;
      },
    );
  }
  if (kind === 'git') {
    if (first !== undefined)
      throw new EarpieceError(
        'bad_argument',
        'follow git needs no argument, because it follows the repository of this folder; leave the argument out',
      );
    const { worktreeOf } = await import('../../inbox/index.ts');
    return { kind, folder: worktreeOf(process.cwd()) };
  }
  if (first === undefined || first.trim() === '') throw new EarpieceError('bad_argument', `follow ${kind} needs ${NEEDS[kind]}`);
  if (kind === 'files') return { kind, folder: process.cwd(), globs: await globsOf(words) };
  if (kind === 'lsp') return { kind, folder: process.cwd(), command: words };
  if (kind === 'agent') return { kind, log: await agentOf(ear, first, to), until: until ?? 'idle' };
  if (kind === 'url') return { kind, url: addressOf(first), ...defined({ value: pathOf(value) }) };
  if (match === undefined)
    throw new EarpieceError(
      'bad_argument',
      `follow log ${first} needs --match <re> for the lines to report, such as --match ERROR`,
    );
  const { patternOf } = await import('../../sources/follow/index.ts');
  patternOf(match);
  return { kind, file: logFileOf(first), match };
}

/** Throws if the word cannot name a pull request, before `gh` is called. */
async function checkPr(word: string): Promise<void> {
  if (/^#?\d+$|^https?:\/\/|:/u.test(word)) return;
  const { gitIn } = await import('../../sources/git/index.ts');
  const answer = await gitIn(process.cwd())(['for-each-ref', '--format=%(refname)', 'refs/heads', 'refs/remotes']);
  if (answer.kind !== 'ok') return;
  const isBranch = answer.out.split('\n').some((ref) => ref.replace(/^refs\/(?:heads|remotes\/[^/]+)\//u, '') === word);
  if (isBranch) return;
  throw new EarpieceError(
    'bad_argument',
    `follow pr ${JSON.stringify(word.slice(0, 80))} is neither a number, a URL nor a known branch of this repository; to get new remote branches: git fetch`,
  );
}

const NEEDS = {
  log: 'a file: earpiece follow log app.log --match ERROR',
  url: 'an address: earpiece follow url http://localhost:3000/health',
  files: "globs, such as 'docs/**'",
  agent: 'the name of an agent',
  lsp: 'a language server: earpiece follow lsp -- npx typescript-language-server --stdio',
};
const MAX_GLOBS = 50;

/** Returns the absolute path of a log. The file may not exist yet. */
function logFileOf(text: string): string {
  const file = resolve(text);
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat !== undefined && !stat.isFile())
    throw new EarpieceError('bad_argument', `follow log ${plain(text, 200)} is not a regular file; name one log file`);
  if (stat === undefined && /[*?]/u.test(text))
    throw new EarpieceError(
      'bad_argument',
      `follow log follows one file, and ${plain(text, 200)} does not exist; name one log file`,
    );
  return file;
}

function pathOf(value: string | undefined): string | undefined {
  if (value === undefined || /^[^.]+(?:\.[^.]+)*$/u.test(value)) return value;
  throw new EarpieceError(
    'bad_argument',
    `--value must be a path such as status.state, got ${JSON.stringify(value.slice(0, 80))}`,
  );
}

async function globsOf(globs: readonly string[]): Promise<readonly string[]> {
  const { globProblem } = await import('../../sources/files/index.ts');
  if (globs.length > MAX_GLOBS)
    throw new EarpieceError(
      'bad_argument',
      `follow files takes at most ${MAX_GLOBS} globs, got ${globs.length}; put them in quotes`,
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
  return globs;
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
  const { checkKnown } = await import('../../talk/index.ts');
  await checkKnown(ear, log, address.project, { shown: JSON.stringify(word), names: 'earpiece agents' });
  return log;
}

function addressOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol))
    throw new EarpieceError(
      'bad_argument',
      `follow url ${JSON.stringify(text.slice(0, 80))} is not a valid http or https address; write e.g. http://localhost:3000/health`,
    );
  if (url.username !== '' || url.password !== '')
    throw new EarpieceError('bad_argument', 'follow url does not store passwords; leave the password out of the address');
  return url.href;
}

/**
 * Returns the address that receives the notifications. In an agent's shell, this is the agent's address without the current
 * conversation.
 */
async function receiverOf(ear: UserInbox, to: string | undefined): Promise<string> {
  if (to !== undefined) return formatAddress(addressIn(ear.config, to));
  const reader = await readerOf(ear, { project: ear.project, env: process.env, address: ear.config.address });
  if (reader !== undefined) return reader.log;
  const address: Address = addressIn(ear.config, undefined);
  return address.kind === 'conversation' ? `${address.project}/${address.agent}` : formatAddress(address);
}
