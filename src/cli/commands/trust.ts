import {
  formatSubscriberProblem,
  projectFolder,
  shippedFolder,
  subscriberFolders,
  subscriberTrust,
  type Subscriber,
  type SubscriberProblem,
} from '../../bus/index.ts';
import {
  checkConfigText,
  checkTrustFile,
  foreignNames,
  formatProblem,
  homeOfProject,
  nobodyToAsk,
  readConfig,
  readEntries,
  takeName,
  trustBook,
  type Config,
  type Problem,
  type TrustBook,
} from '../../config/index.ts';
import { readLimited } from '../../input/index.ts';
import type { Answer, CommandLine } from '../command-line.ts';
import { onlyAPerson, withNamedDatabase, type GlobalOptions } from '../context.ts';
import { EXIT } from '../exit.ts';
import { agreed } from '../setup/ask.ts';
import { nameOf, paint, plain, print, printJson } from '../terminal.ts';

type Options = GlobalOptions & {
  readonly off?: boolean;
  readonly list?: boolean;
  readonly yes?: boolean;
  readonly newMark?: boolean;
};

/** A file, folder or name that needs trust. `what`: its requests, one line each. `allow` grants these requests. */
type Part = {
  readonly place: string;
  readonly what: readonly string[];
  /** The requests that were granted before. */
  readonly already: readonly string[];
  /** The effect of the consent, printed after the place. */
  readonly lasts: string;
  readonly allow: () => void;
};

export function trust(command: CommandLine, answer: Answer): void {
  command
    .description(
      "Shows the permissions that an earpiece.toml (default: the file of this project) asks for, and asks for your consent. Such a file may start commands, open connections, set the database, add text for the model or use another project's name. Without a file argument, the command also asks about the subscribers of the project, which may write text that agents read. " +
        'Your consent covers the permissions in earpiece.toml until they change, and all present and later subscribers of the project. Without a terminal, running the command counts as consent. The exit code is 8 if a subscriber has an error, or if errors in earpiece.toml hide its permissions.',
    )
    .option('--yes', 'do not ask')
    .option('--off', 'withdraw the trust')
    .option('--list', 'list the trusted files and folders')
    .option(
      '--new-mark',
      "give this project's agents new marks, for example after a mark has leaked; each agent uses its new mark after its restart",
    )
    .action(async (file: string | undefined, options: Options) => {
      if (options.newMark) {
        onlyAPerson('to change a mark');
        return withNamedDatabase(options, async (ear) => {
          await ear.newMark(ear.project);
          if (options.json) return printJson({ project: ear.project, newMark: true });
          return print(`the agents of ${nameOf(ear.project)} have new marks; restart each running agent`);
        });
      }
      const at = { env: process.env };
      checkTrustFile(at);
      const { config } = readConfig({ cwd: process.cwd(), ...at });
      const foreign = foreignNames({ names: readEntries(at), root: config.root, mayTake: nobodyToAsk(process.env) });
      const book = trustBook(at, foreign);
      if (options.list) return list(book, options);
      onlyAPerson('to trust a file');
      const target = file ?? config.files.find((f) => f.scope === 'project')?.file;
      const { parts: here, problems: wrong } = file === undefined ? partsHere(config) : { parts: [], problems: [] };
      if (options.off) return off(book, [...(target === undefined ? [] : [target]), projectFolder(config.projectRoot)], options);
      const part = target === undefined ? undefined : partOf(book, target);
      const hidden = part === undefined || part.what.length + part.already.length > 0 ? [] : problemsIn(part.place);
      const problems = [...hidden, ...wrong];
      if (options.json) problems.forEach((problem) => printJson({ problem }));
      else if (problems.length > 0)
        print([...hidden.map(formatProblem), ...wrong.map(formatSubscriberProblem)].map((line) => plain(line)).join('\n'));
      if (problems.length > 0) answer(EXIT.problems.code);
      if (target === undefined && here.length === 0) {
        if (problems.length > 0) return;
        if (options.json) return printJson({ file: null, trusted: false, what: [] });
        return print(
          paint('dim', 'this project has no earpiece.toml and no subscribers that need trust; your own files are always trusted'),
        );
      }
      const parts = [...(part === undefined || hidden.length > 0 ? [] : [part]), ...here];
      if (problems.length > 0 && parts.every(({ what }) => what.length === 0)) return;
      await decide(parts, options);
    });
}

/** Returns the problems of an earpiece.toml. If there are any, its permissions may be unknown. */
const problemsIn = (file: string): readonly Problem[] =>
  checkConfigText(readLimited(file, 1_048_576).toString('utf8'), file).problems;

async function decide(parts: readonly Part[], options: Options): Promise<void> {
  const asking = parts.filter(({ what }) => what.length > 0);
  const [first] = parts;
  if (asking.length === 0) {
    first?.allow();
    const known = parts.filter(({ already }) => already.length > 0);
    if (options.json) return printJson({ file: (known[0] ?? first)?.place ?? null, trusted: true, what: [] });
    if (known.length === 0) return print(`${plain(first?.place ?? '')}: nothing in this file needs trust`);
    return print(
      known
        .map(({ place, already }) =>
          [`${plain(place)} is already trusted:`, ...already.map((line) => `  ${plain(line)}`)].join('\n'),
        )
        .join('\n'),
    );
  }
  const shown = asking.map(({ place, what }) => [plain(place), ...what.map((line) => `  ${plain(line)}`)].join('\n')).join('\n');
  const asks = options.yes !== true && options.json !== true && process.stdin.isTTY && process.stdout.isTTY;
  if (asks) {
    print(`${shown}\n`);
    if (!(await agreed('Allow this? [y/N] '))) return print('nothing was changed');
  }
  for (const { allow } of parts) allow();
  if (options.json) return asking.forEach(({ place, what }) => printJson({ file: place, trusted: true, what }));
  const said = asking.map(({ place, what, lasts }) =>
    asks ? `${plain(place)} ${lasts}` : [`${plain(place)} ${lasts}:`, ...what.map((line) => `  ${plain(line)}`)].join('\n'),
  );
  print(said.join('\n'));
}

function partOf(book: TrustBook, target: string): Part {
  const seen = book.print(target);
  const { file, what } = book.asking(target);
  return {
    place: file,
    what,
    already: book.allowed(target).what,
    lasts: 'is trusted as it is now; if these parts change, run earpiece trust again',
    // `seen` detects a change of the file while the person reads, for example by `git pull`.
    allow: () => void book.trust(target, seen),
  };
}

/**
 * Returns the parts besides the project's earpiece.toml: the folder of its subscribers, and the name that the project takes
 * over from a deleted folder. `problems` are the problems of the subscribers.
 */
function partsHere(config: Config): { readonly parts: readonly Part[]; readonly problems: readonly SubscriberProblem[] } {
  const at = { env: process.env };
  const { wanted, root, projectRoot } = config;
  const { held, counting, problems } = subscribersHere(config);
  const folder = projectFolder(projectRoot);
  const parts = [
    ...(wanted?.gone
      ? [
          {
            place: root,
            what: [
              `take over the name ${JSON.stringify(wanted.name)} with its agents and open notifications, because its folder ${wanted.folder} no longer exists`,
            ],
            already: [],
            lasts: 'is trusted to take over the name',
            allow: () => takeName(at, wanted.name, { folder: homeOfProject(config), root }),
          },
        ]
      : []),
    ...(held.length + counting.length > 0
      ? [
          {
            place: folder,
            what: held.map(saidOf),
            already: counting.map(saidOf),
            lasts: 'is trusted as a folder, including subscribers that are changed or added later',
            allow: () => subscriberTrust(at).trust(folder),
          },
        ]
      : []),
  ];
  return { parts, problems };
}

const saidOf = ({ id, events, output }: Subscriber): string =>
  `subscriber ${id} listens to ${events.types.join(', ')}${output.template === undefined ? '' : ` and says ${JSON.stringify(shortened(output.template.text))}`}`;

const MAX_SHOWN = 300;
const shortened = (text: string): string => (text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text);

/** Reads the project's subscribers. `held`: not trusted. `counting`: in effect. `problems`: the errors in their files. */
function subscribersHere({
  project,
  projectRoot,
}: Config): Record<'held' | 'counting', readonly Subscriber[]> & { readonly problems: readonly SubscriberProblem[] } {
  const source = subscriberFolders({
    shipped: shippedFolder(),
    projectRoot: () => projectRoot,
    projectTrust: subscriberTrust({ env: process.env }),
  });
  const { subscribers, held = [], problems } = source.of(project);
  const folder = projectFolder(projectRoot);
  return {
    held,
    counting: subscribers.filter(({ from }) => from.folder === 'project'),
    problems: problems.filter(({ file, severity }) => severity === 'error' && file.startsWith(folder)),
  };
}

function list(book: TrustBook, options: Options): void {
  if (options.json) return book.list().forEach((each) => printJson({ file: each, trusted: true }));
  const trusted = book.list().map((each) => plain(each));
  print(trusted.length === 0 ? paint('dim', 'nothing is trusted') : trusted.join('\n'));
}

function off(book: TrustBook, places: readonly string[], options: Options): void {
  const results = places.map((place) => [place, book.untrust(place)] as const);
  const [target = ''] = places;
  if (options.json) return printJson({ file: target, trusted: false });
  const removed = results.filter(([, was]) => was).map(([place]) => `${plain(place)} is no longer trusted`);
  print(removed.length === 0 ? `${plain(target)} was not trusted` : removed.join('\n'));
}
