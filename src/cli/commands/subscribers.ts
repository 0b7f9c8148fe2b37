/** The rules that turn events into notifications: which there are, whether their files are right, which are switched off. */
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import {
  checkRunning,
  Folder,
  formatSubscriberProblem,
  projectFolder,
  readSubscriber,
  shippedFolder,
  subscriberFolders,
  subscriberTrust,
  templateEngine,
  WHY_LOCKED,
  type FolderState,
  type Subscriber,
  type SubscriberFile,
  type SubscriberProblem,
  type SubscriberSet,
  type SubscriberSource,
  type Toggled,
  type ToggleScope,
} from '../../bus/index.ts';
import { readConfig, userSubscribersFolder } from '../../config/index.ts';
import { didYouMean, EarpieceError } from '../../core/errors.ts';
import type { EventInput } from '../../core/event.ts';
import { openLoadedInbox, type LoadedInbox } from '../../loaded-inbox.ts';
import type { Answer, CommandLine } from '../command-line.ts';
import { checkNamed, onlyAPerson, readOnly, type GlobalOptions } from '../context.ts';
import { EXIT } from '../exit.ts';
import { table } from '../table.ts';
import { complain, paint, plain, plainLines, print, printJson } from '../terminal.ts';
import { whoAmI } from './change.ts';
import { eventText } from './emit.ts';

export function subscribers(group: CommandLine, answer: Answer): void {
  group.description(
    'Lists the rules that turn events into notifications, checks their files, tries them out, copies and switches them.',
  );
  list(group);
  check(group, answer);
  tryOut(group, answer);
  copy(group);
  toggle(group, 'disable');
  toggle(group, 'enable');
}

function list(group: CommandLine): void {
  group
    .command('list')
    .summary('which there are, and which are off')
    .description(
      'Every subscriber of this project: where its file is, what it hears, when it rides, whether it is on; then what is wrong with files.',
    )
    .action(async (options: GlobalOptions) => {
      await withSubscribers(
        options,
        async (ear) => {
          const set = ear.bus.subscribers(ear.project);
          const off = await ear.toggles.lists(ear.project);
          if (options.json) {
            set.subscribers.forEach((subscriber) => printJson(listed(subscriber, off)));
            set.held?.forEach((subscriber) => printJson({ ...listed(subscriber, off), state: 'not trusted' }));
            return set.problems.forEach((problem) => printJson({ problem }));
          }
          const held = new Set(set.held);
          const rows = [...set.subscribers, ...held].map((subscriber) => {
            const { id, name, events, output, from } = subscriber;
            const place = from.folder === 'shipped' ? paint('dim', from.folder) : from.folder;
            return [
              id,
              held.has(subscriber) ? paint('yellow', 'not trusted') : stateShown(subscriber, off),
              place,
              output.priority,
              output.injectAt,
              plain(name),
              plain(events.types.join(', ')),
            ];
          });
          if (rows.length === 0) print(paint('dim', 'there is no subscriber'));
          else
            print(
              table(rows, [
                { head: 'id' },
                { head: 'state' },
                { head: 'from', spare: 1 },
                { head: 'priority', spare: 2 },
                { head: 'rides at', spare: 3 },
                { head: 'name', spare: 4 },
                { head: 'events' },
              ]),
            );
          if (set.subscribers.some(({ output }) => output.core))
            print(paint('dim', `\nlocked: cannot be disabled; ${WHY_LOCKED}`));
          const { project, user } = here().paths;
          const more = others().filter(({ id }) => set.subscribers.every((known) => known.id !== id));
          if (more.length > 0)
            print(paint('dim', `more, once copied: ${more.map(({ id }) => id).join(', ')} (earpiece subscribers copy <id>)`));
          print(paint('dim', `your own: ${plain(project)} (this project), ${plain(user)} (all of yours)`));
          if (set.problems.length > 0) print(`\n${set.problems.map(problemLine).join('\n')}`);
        },
        { reads: true },
      );
    });
}

function check(group: CommandLine, answer: Answer): void {
  group
    .command('check [paths...]')
    .summary('every problem with its place')
    .description(
      'Every problem of the subscribers in these files or folders (default: all that count here), of their templates and conditions, ' +
        'with its line and column. Exit code 8 when one is an error; a warning is none.',
    )
    .action(async (paths: readonly string[], options: GlobalOptions) => {
      await using engine = templateEngine();
      let wrong = false;
      for (const { name, files, problems } of paths.length > 0 ? paths.map(checkable) : ofHere()) {
        const all = [...problems, ...(await checkRunning(files, engine))];
        wrong ||= all.some(({ severity }) => severity === 'error');
        if (options.json) all.forEach((problem) => printJson(problem));
        else if (all.length > 0) print(all.map(problemLine).join('\n'));
        else print(`${plain(name)} is fine${files.length === 1 ? '' : `: ${files.length} subscribers`}`);
      }
      if (wrong) answer(EXIT.problems.code);
    });
}

function tryOut(group: CommandLine, answer: Answer): void {
  group
    .command('test <subscriber> <event>')
    .summary('what it would make of an event')
    .description(
      'What a subscriber (its file, or the id of one that counts here) would make of an event, or why it would not hear it. ' +
        'The event is a file with a CloudEvent in JSON, a list of them, or one a line; "-" reads stdin. Nothing is queued.',
    )
    .example(`earpiece subscribers test .earpiece/subscribers/build.toml event.json
earpiece subscribers test tool_failure - < event.json`)
    .action(async (which: string, file: string, options: GlobalOptions) => {
      const text = await eventText(file);
      const { subscriber, problems } = named(which);
      if (!options.json && problems.length > 0) print(problems.map(problemLine).join('\n'));
      if (subscriber === undefined) {
        if (options.json) problems.forEach((problem) => printJson(problem));
        return answer(EXIT.problems.code);
      }
      await made(subscriber, { text, from: file === '-' ? 'stdin' : file }, options, answer);
    });
}

/** In a log of its own in memory, which nobody sees, all is done as it would be: heard, counted, grouped, rendered. */
async function made(
  subscriber: Subscriber,
  given: { readonly text: string; readonly from: string },
  options: GlobalOptions,
  answer: Answer,
): Promise<void> {
  const set: SubscriberSet = { subscribers: [subscriber], problems: [] };
  const troubles: string[] = [];
  await using ear = await openLoadedInbox({
    db: 'memory:',
    subscribers: { of: () => set },
    onProblem: (line) => troubles.push(line),
  });
  const subject = `${ear.project}/test`;
  const events = await eventsIn(given, subject);
  const heard = await Promise.all(
    events.map(async (event) => {
      const emitted = await ear.bus.emit({ ...event, subject });
      const one = emitted.heard[0] ?? {
        subscriber: subscriber.id,
        kind: 'skipped' as const,
        because: notItsType(subscriber, event.type),
      };
      return { type: event.type, heard: one };
    }),
  );
  // Where any moment has come but those of another turn.
  const { view, decisions } = await ear.conversation(subject).preview({ at: 'tool_batch_end' });
  const failed = (await ear.store.read({ types: ['template_failed'] })).map(({ body }) =>
    String((body as { reason?: unknown }).reason),
  );
  const waits = decisions.flatMap((decision) => (decision.kind === 'keep' ? [decision.reason] : []));
  if (options.json) {
    heard.forEach((each) => printJson(each));
    (view?.items ?? []).forEach((item) => printJson(item));
    failed.forEach((reason) => printJson({ templateFailed: reason }));
  } else {
    for (const { type, heard: one } of heard)
      print(
        `${plain(type)}: ${one.kind === 'skipped' ? `not heard, ${plain(one.because)}` : one.kind === 'withdrew' ? 'takes back what is open under its key' : 'heard'}`,
      );
    for (const { text: said } of view?.items ?? []) print(`\n${plainLines(said)}`);
    for (const reason of failed) print(`\n  ${plain(reason)}`);
    for (const why of new Set(waits)) print(`\n  not at once: ${plain(why)}`);
    for (const line of troubles) print(`\n${plain(line)}`);
  }
  if (failed.length > 0) answer(EXIT.problems.code);
  else if (heard.every(({ heard: one }) => one.kind === 'skipped')) answer(EXIT.nobody.code);
}

/** The file as it is, with its template, where it counts instead of that one. */
function copy(group: CommandLine): void {
  group
    .command('copy <id>')
    .summary('make one your own, to change it')
    .description(
      'Copies the files of a subscriber to where yours are. The copy counts instead of it, from the next event on: ' +
        'change its words, its threshold, its moment. Without the copy the other one counts again. ' +
        'Some come with Earpiece that count only once they are copied; list names them.',
    )
    .option('--project', 'into this project (default)')
    .option('--user', 'for all of your projects')
    .action((id: string, options: GlobalOptions & { project?: boolean; user?: boolean }) => {
      if (options.project && options.user) throw new EarpieceError('bad_argument', 'give either --project or --user');
      onlyAPerson('to copy a subscriber');
      const { paths } = here();
      const {
        from: { file },
        output: { template },
      } = moreOf(id) ?? counting(id);
      const folder = options.user ? paths.user : paths.project;
      if (dirname(file) === folder) throw new EarpieceError('conflict', `${id} is in ${folder} already: ${basename(file)}`);
      const names = [basename(file), ...(template === undefined ? [] : [template.name])];
      const copies = names.map((name) => ({ from: join(dirname(file), name), to: join(folder, name) }));
      for (const { from, to } of copies)
        if (existsSync(to) && !readFileSync(to).equals(readFileSync(from)))
          throw new EarpieceError('conflict', `${to} is there and says something else; rename it, or remove it`);
      const isNew = !existsSync(folder);
      const trust = subscriberTrust({ env: process.env });
      try {
        mkdirSync(folder, { recursive: true });
        for (const { from, to } of copies) writeFileSync(to, readFileSync(from));
        // Whoever makes the first file of a folder trusts the folder.
        if (!options.user && isNew) trust.trust(folder);
      } catch (cause) {
        const { code } = cause as NodeJS.ErrnoException;
        throw new EarpieceError(
          'bad_argument',
          `${folder} cannot be written (${code}); make it a folder that is yours, or give ${options.user ? '--project' : '--user'}`,
          { cause },
        );
      }
      const made = copies.map(({ to }) => to);
      const trusted = options.user === true || trust.isTrusted(folder);
      if (options.json) return printJson({ id, files: made, trusted });
      const counts = trusted
        ? `${plain(id)} is yours now: what you change there counts from the next event on`
        : `${plain(id)} does not count yet: ${plain(folder)} is not trusted. Look at its files, then: earpiece trust`;
      print(`${made.map((name) => plain(name)).join('\n')}\n${counts}`);
    });
}

async function eventsIn(
  given: { readonly text: string; readonly from: string },
  subject: string,
): Promise<readonly EventInput[]> {
  const { cloudEventsIn } = await import('../../sources/webhooks/cloud-event.ts');
  try {
    return cloudEventsIn(given.text, { source: 'cli', subject });
  } catch (error) {
    if (!(error instanceof EarpieceError)) throw error;
    throw new EarpieceError(error.code, `${given.from}: ${error.message}`, { data: error.data, cause: error });
  }
}

const notItsType = ({ events }: Subscriber, type: string): string => `type ${type} is none of ${events.types.join(', ')}`;

function toggle(group: CommandLine, what: 'enable' | 'disable'): void {
  const off = what === 'disable';
  group
    .command(`${what} <id>`)
    .summary(off ? 'queue nothing for its events' : 'let it tell again')
    .description(
      off
        ? 'Switches a subscriber off from the next event on, in every process: it queues nothing. One of the core cannot be.'
        : 'Switches a subscriber on again, from the next event on.',
    )
    .option('--project', 'in this project (default)')
    .option('--user', 'in all projects of this database')
    .action(async (id: string, options: GlobalOptions & { project?: boolean; user?: boolean }) => {
      if (options.project && options.user) throw new EarpieceError('bad_argument', 'give either --project or --user');
      onlyAPerson(`to ${what} a subscriber`);
      await withSubscribers(options, async (ear) => {
        const scope: ToggleScope = options.user ? { kind: 'user' } : { kind: 'project', project: ear.project };
        const set = ear.bus.subscribers(ear.project);
        // What is off may be gone since: then it can still be switched on.
        if (offFor(id, await ear.toggles.lists(ear.project)).length === 0) checkCopied(id, set.subscribers);
        const changed = await ear.toggles[what](scope, id, whoAmI(), set);
        const lists = await ear.toggles.lists(ear.project);
        const offBy = offFor(id, lists);
        if (options.json) return printJson({ id, changed, state: offBy.length === 0 ? 'on' : 'off', offBy });
        const where = options.user ? 'in all projects' : `in project ${plain(ear.project)}`;
        print(`${plain(id)} ${changed ? 'is' : 'was'} ${off ? 'off' : 'on'} ${changed ? '' : 'already '}${where}`);
        const other = off ? undefined : offBy[0];
        if (other !== undefined)
          print(
            `it stays off here: it is off ${other === 'user' ? 'in all projects' : `in project ${plain(ear.project)}`}; earpiece subscribers enable ${plain(id)}${other === 'user' ? ' --user' : ''}`,
          );
      });
    });
}

type State = { readonly state: 'on' | 'off'; readonly offBy: readonly ToggleScope['kind'][]; readonly locked?: string };

function stateOf({ id, output }: Subscriber, off: Toggled): State {
  // One that was switched off before it was of the core.
  if (output.core) return { state: 'on', offBy: [], locked: WHY_LOCKED };
  const offBy = offFor(id, off);
  return { state: offBy.length === 0 ? 'on' : 'off', offBy };
}

const offFor = (id: string, off: Toggled): readonly ToggleScope['kind'][] =>
  (['user', 'project'] as const).filter((scope) => off[scope].includes(id));

function stateShown(subscriber: Subscriber, off: Toggled): string {
  const { state, offBy, locked } = stateOf(subscriber, off);
  if (locked !== undefined) return 'locked';
  return state === 'on' ? 'on' : paint('yellow', `off (${offBy.join(', ')})`);
}

function listed(subscriber: Subscriber, off: Toggled): object {
  const { id, name, description, version, events, output, from } = subscriber;
  return {
    id,
    name,
    description,
    version,
    events,
    priority: output.priority,
    injectAt: output.injectAt,
    core: output.core,
    ...stateOf(subscriber, off),
    from,
    ...(output.template === undefined ? {} : { template: output.template.name }),
  };
}

const problemLine = (problem: SubscriberProblem): string => plain(formatSubscriberProblem(problem));

/** The folders that count here. What is wrong in them is for the command to tell, not for stderr. */
function here(): {
  readonly project: string;
  readonly paths: Readonly<Record<'shipped' | 'user' | 'project', string>>;
  readonly source: SubscriberSource;
} {
  const { config } = readConfig({ cwd: process.cwd(), env: process.env });
  const { project, projectRoot } = config;
  const paths = {
    shipped: shippedFolder(),
    user: userSubscribersFolder({ env: process.env }),
    project: projectFolder(projectRoot),
  };
  const source = subscriberFolders({
    ...paths,
    projectRoot: (name) => (name === project ? projectRoot : undefined),
    projectTrust: subscriberTrust({ env: process.env }),
  });
  return { project, paths, source };
}

async function withSubscribers<T>(
  options: GlobalOptions,
  work: (ear: LoadedInbox) => Promise<T>,
  { reads = false }: { readonly reads?: boolean } = {},
): Promise<T> {
  checkNamed(options);
  await using ear = await openLoadedInbox({
    ...(options.db === undefined ? {} : { flags: { db: options.db } }),
    ...(reads ? readOnly(options) : {}),
    subscribers: here().source,
    onProblem: complain,
  });
  return await work(ear);
}

type Checkable = { readonly name: string; readonly files: FolderState['files']; readonly problems: readonly SubscriberProblem[] };

/** A folder that is not there is left out. */
function ofHere(): readonly Checkable[] {
  const { project, paths, source } = here();
  const { problems } = source.of(project);
  return (['shipped', 'user', 'project'] as const)
    .map((name) => ({
      name: paths[name],
      files: new Folder({ path: paths[name], name, optional: name !== 'shipped', lookEveryMs: 0 }).look(0).files,
      problems: problems.filter(({ file }) => file === paths[name] || dirname(file) === paths[name]),
    }))
    .filter(({ name, problems: wrong }) => wrong.length > 0 || existsSync(name));
}

function checkable(path: string): Checkable {
  if (isFolder(path)) return { name: path, ...new Folder({ path, name: 'user', optional: false, lookEveryMs: 0 }).look(0) };
  const { subscriber, problems: own, ...rest } = fileAt(path);
  // What only the folder shows, where it is one of those that count here: an id that stands twice, a core one that is replaced.
  const { project, source } = here();
  const among = source
    .of(project)
    .problems.filter(({ file }) => resolve(file) === resolve(path))
    .map((problem) => ({ ...problem, file: path }));
  const problems = [...new Map([...among, ...own].map((each) => [`${each.line} ${each.message}`, each])).values()];
  return { name: path, files: subscriber === undefined ? [] : [{ ...rest, subscriber, problems }], problems };
}

/** What cannot be looked at is told when it is read. */
function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function fileAt(path: string): SubscriberFile {
  const file = readSubscriber(path);
  if (file === undefined)
    throw new EarpieceError('not_found', `${path} cannot be read (ENOENT); name the file of a subscriber, or a folder of them`);
  return file;
}

/** A file, or an id of this project. */
function named(which: string): Pick<SubscriberFile, 'subscriber' | 'problems'> {
  return /[./\\]/.test(which) ? fileAt(which) : { subscriber: counting(which), problems: [] };
}

/** The one of this id that counts here. */
/** Those that come with Earpiece and count only once they are copied. */
const others = (): readonly Subscriber[] => subscriberFolders({ shipped: join(shippedFolder(), 'more') }).of('').subscribers;

/** One of those, where nobody has made it theirs. */
function moreOf(which: string): Subscriber | undefined {
  const { project, source } = here();
  if (source.of(project).subscribers.some(({ id }) => id === which)) return undefined;
  return others().find(({ id }) => id === which);
}

function checkCopied(which: string, counting: readonly Subscriber[]): void {
  if (counting.some(({ id }) => id === which) || others().every(({ id }) => id !== which)) return;
  throw new EarpieceError('not_found', `${which} counts only once it is yours: earpiece subscribers copy ${which}`);
}

function counting(which: string): Subscriber {
  const { project, source } = here();
  const { subscribers: all } = source.of(project);
  const subscriber = all.find(({ id }) => id === which);
  if (subscriber !== undefined) return subscriber;
  checkCopied(which, all);
  const near = didYouMean(
    which,
    [...all, ...others()].map(({ id }) => id),
  );
  throw new EarpieceError(
    'not_found',
    `there is no subscriber ${JSON.stringify(which.slice(0, 80))}; ${near === undefined ? 'name its file, or an id of earpiece subscribers list' : `did you mean ${near}?`}`,
  );
}
