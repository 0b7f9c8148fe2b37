import { formatAddress, logOf } from '../../core/address.ts';
import { defined } from '../../core/defined.ts';
import { didYouMean, EarpieceError } from '../../core/errors.ts';
import type { UserInbox } from '../../user-inbox.ts';
import type { Followed, Until, What } from '../../sources/follow/index.ts';
import { choice, type Answer, type CommandLine } from '../command-line.ts';
import { durationOption, withInbox, type GlobalOptions } from '../context.ts';
import { isKind, KINDS, whatOf } from '../followed-thing.ts';
import { agentHere, receiverOf } from '../reader.ts';
import { isOnPath } from '../shell.ts';
import { nameOf, paint, plain, print, printJson } from '../terminal.ts';

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
        '`log` follows a file, `url` a URL, `files` the files that globs match, and `git` the branch, its upstream and conflicts. ' +
        '`lsp` follows the errors that a language server finds in changed files. `agent` follows another agent until that agent is idle, blocked or done. ' +
        'Followed things are checked while a session of this project is active. The first check of a session also reports changes since the last session. ' +
        'Anything else is a command, which runs here as usual. The agent is notified of the errors that the command prints. Notifications of fixed errors are withdrawn.',
    )
    .option(
      '--to <address>',
      'the agent to notify (default: EARPIECE_ADDRESS or `address` in earpiece.toml, otherwise the agent of this shell, otherwise all active agents of this project)',
    )
    .option('--keep', 'continue to check when no session is active')
    .option('--match <re>', 'log: the lines to report, as a regular expression')
    .option('--value <path>', 'url: the path of a value in the JSON answer, such as status.state')
    .addOption(choice('--until <state>', ['idle', 'blocked', 'done'], 'agent: the state to wait for (default: idle)'))
    .option(
      '--every <duration>',
      'the time between two checks, 10s to 1d; without this option: pr 30s to 60s, url 30s, files and git 5s, agent 2s, log and lsp 1s',
    )
    .addOption(
      choice(
        '--level <level>',
        ['info', 'warning', 'error'],
        'log, url: the level of notifications (default: log warning, url error)',
      ),
    )
    .option('--name <label>', 'for a command: the name that notifications show')
    .option('--matcher <names>', 'for a command: names of more problem matchers in earpiece.toml, separated by commas')
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
      if (kind.trim() === '') throw new EarpieceError('bad_argument', 'the command must not be empty; write e.g. npm run dev');
      if (!isKind(kind) || isCommand(words)) {
        if (!isCommand(words)) checkMeant(words);
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

/** The options that only some kinds accept, and the command line of these kinds. */
const ONLY: Readonly<Record<string, { readonly kinds: readonly string[]; readonly write: string }>> = {
  match: { kinds: ['log'], write: 'follow log <file>' },
  value: { kinds: ['url'], write: 'follow url <url>' },
  until: { kinds: ['agent'], write: 'follow agent <agent>' },
  level: { kinds: ['log', 'url'], write: 'follow log <file> and follow url <url>' },
  name: { kinds: ['a command'], write: 'follow -- <command>' },
  matcher: { kinds: ['a command'], write: 'follow -- <command>' },
  every: { kinds: KINDS, write: `follow ${KINDS.join(', ')}` },
  keep: { kinds: KINDS, write: `follow ${KINDS.join(', ')}` },
};

/** Throws `bad_argument` if an option has no effect for this kind, or has an invalid value. */
function checkOptions(kind: string, options: FollowOptions): void {
  if (options.name?.trim() === '')
    throw new EarpieceError('bad_argument', '--name must not be empty; leave the option out to show the command itself');
  if (options.matcher?.trim() === '')
    throw new EarpieceError(
      'bad_argument',
      '--matcher must not be empty; leave the option out to use only the shipped problem matchers',
    );
  for (const [name, { kinds, write }] of Object.entries(ONLY))
    if (options[name as keyof FollowOptions] !== undefined && !kinds.includes(kind))
      throw new EarpieceError('bad_argument', `--${name} works only with ${write}, not with ${kind}; leave --${name} out`);
  if (options.every !== undefined) everyOf(options.every);
}

/**
 * Throws for a word that is almost the name of a kind, such as `logs`, because the word is probably a typing error. Does not
 * throw if arguments follow the word and a program with this name exists.
 */
function checkMeant(words: readonly string[]): void {
  const [word = ''] = words;
  const near = /^pulls?$/iu.test(word) ? 'pr' : didYouMean(word, KINDS);
  if (near === undefined || (words.length > 1 && isOnPath(word, process.env))) return;
  const shown = JSON.stringify(word.slice(0, 80));
  throw new EarpieceError(
    'bad_argument',
    `follow ${shown}: did you mean ${near}? For a program with this name: earpiece follow -- ${words.join(' ').slice(0, 200)}`,
  );
}

/** Whether the words follow `--`, so that they are a command: `follow -- git fetch` runs git. */
const isCommand = (words: readonly string[]): boolean => process.argv.at(-words.length - 1) === '--';

async function begin(ear: UserInbox, what: What, options: FollowOptions): Promise<void> {
  const { add, nameOf: thingName } = await import('../../sources/follow/index.ts');
  const { startLooker } = await import('../looker.ts');
  const everyMs = options.every === undefined ? undefined : everyOf(options.every);
  const by = await agentHere(ear.config);
  const { followed, known } = await add(ear.store, ear.project, {
    uid: ear.ids.make('f'),
    what,
    to: await addressToNotify(ear, options.to),
    ...(options.keep ? { keep: true as const } : {}),
    ...defined({ by, everyMs, level: options.level }),
  });
  const there = followed.keep === true || (await ear.active({ project: ear.project })).length > 0;
  if (there) await startLooker(ear, ear.config.root);
  if (options.json) return printJson({ id: followed.id, what, to: followed.to, known });
  const title = what.kind === 'pr' && what.title !== undefined ? ` ${JSON.stringify(plain(what.title, 80))}` : '';
  print(
    `${paint('bold', followed.id)}  ${plain(thingName(followed))}${title}, for ${nameOf(followed.to)}${known ? '; already followed, and due for a new check' : ''}${there ? '' : '; Earpiece checks this thing from the next session on, or from now on with --keep'}`,
  );
}

const LEAST_MS = 10_000;
const MOST_MS = 86_400_000;

function everyOf(text: string): number {
  const ms = durationOption('--every', text);
  if (ms >= LEAST_MS && ms <= MOST_MS) return ms;
  throw new EarpieceError('bad_argument', `--every must be 10s to 1d, got ${text}`);
}

/**
 * Returns the address to notify. Without `to`, the address names no conversation, because a followed thing can outlive the
 * caller's conversation.
 */
async function addressToNotify({ config }: UserInbox, to: string | undefined): Promise<string> {
  const address = await receiverOf(config, to);
  return to === undefined && address.kind === 'conversation' ? logOf(address) : formatAddress(address);
}
