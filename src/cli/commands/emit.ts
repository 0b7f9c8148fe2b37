import { statSync } from 'node:fs';
import { readLimited } from '../../input/index.ts';
import { formatAddress } from '../../core/address.ts';
import { EarpieceError } from '../../core/errors.ts';
import { makeEvent, type Emitted, type Event, type EventInput } from '../../core/event.ts';
import type { Ids } from '../../core/ports.ts';
import { randomIds } from '../../inbox/index.ts';
import type { LoadedInbox } from '../../loaded-inbox.ts';
import type { Answer, CommandLine } from '../command-line.ts';
import { addressIn, SERVER_OPTION, withLoadedInbox, type GlobalOptions } from '../context.ts';
import { wasHeard, whatBecame } from '../emitted.ts';
import { EXIT } from '../exit.ts';
import { plain, print, printJson } from '../terminal.ts';
import { wayToBeHeard } from '../unheard.ts';

type Options = GlobalOptions & { to?: string; server?: string };

const MAX_BYTES = 64 * 1_048_576;
/** The maximum number of events that are emitted together. */
const AT_ONCE = 1_000;

export function emit(command: CommandLine, answer: Answer): void {
  command
    .description(
      'Emits events. The file contains a CloudEvent in JSON, a list of CloudEvents, or one CloudEvent per line; "-" reads stdin. Only the field type is required. ' +
        'Shows the subscribers that matched or skipped each event, and the result. If no subscriber listens to the type of an event, the command usually shows a subscriber file that would match. The exit code is 5 if no subscriber acted on any event.',
    )
    .option(
      '--to <address>',
      'the receivers, which override the subject of an event (default: the subject, otherwise EARPIECE_ADDRESS or `address` in earpiece.toml, otherwise all active agents of this project)',
    )
    .option(...SERVER_OPTION)
    .example(
      `echo '{"type": "cli.event", "message": "staging is up"}' | earpiece emit -
earpiece emit --to coder event.json
my-monitor --follow | head -n 100 | earpiece emit --json -`,
    )
    .action(async (file: string, options: Options) => {
      const text = await eventText(file);
      let heard = false;
      const tell = (emitted: Emitted, several: boolean): void => {
        heard ||= wasHeard(emitted);
        if (options.json) printJson(emitted);
        else print(said(emitted, several));
      };
      if (options.server === undefined)
        await withLoadedInbox(options, async (ear) => {
          const place = { config: ear.config, ids: ear.ids, now: ear.store.now() };
          const events = await eventsIn({ text, file }, place, options.to);
          const unheard: Emitted[] = [];
          for await (const emitted of emitHere(ear, events)) {
            if (emitted.heard.length === 0) unheard.push(emitted);
            tell(emitted, events.length > 1);
          }
          const way = options.json ? undefined : wayToBeHeard(unheard, ear);
          if (way !== undefined) print(`\n${way}`);
        });
      else {
        const { emit: emitThere, remotely } = await import('../remote.ts');
        await remotely(options.server, async (remote) => {
          const place = { config: remote.config, ids: randomIds, now: Date.now() };
          const events = await eventsIn({ text, file }, place, options.to);
          for await (const emitted of emitThere(remote, events)) tell(emitted, events.length > 1);
        });
      }
      if (!heard) answer(EXIT.nobody.code);
    });
}

async function* emitHere(ear: LoadedInbox, events: readonly EventInput[]): AsyncIterable<Emitted> {
  for (let at = 0; at < events.length; at += AT_ONCE) {
    const results = await Promise.allSettled(events.slice(at, at + AT_ONCE).map(async (event) => ear.callersEvents.emit(event)));
    for (const result of results) {
      if (result.status === 'rejected') throw result.reason;
      yield result.value;
    }
  }
}

const said = (emitted: Emitted, several: boolean): string =>
  whatBecame(emitted)
    .map((line) => (several ? `${plain(emitted.event.type)}  ${line}` : line))
    .join('\n');

type Place = { readonly config: Parameters<typeof addressIn>[0]; readonly ids: Ids; readonly now: number };

type Given = { readonly text: string; readonly file: string };

/** Parses the events. An error names the file, unless the events are from stdin. */
async function readFrom({ text, file }: Given, subject: string): Promise<readonly EventInput[]> {
  const { cloudEventsIn } = await import('../../sources/webhooks/cloud-event.ts');
  try {
    return cloudEventsIn(text, { source: 'cli', subject });
  } catch (error) {
    if (!(error instanceof EarpieceError) || file === '-') throw error;
    throw new EarpieceError(error.code, `${plain(file)}: ${error.message}`, { data: error.data, cause: error });
  }
}

/** Makes the events, and checks all of them before the first event is emitted. */
async function eventsIn(given: Given, { config, ids, now }: Place, to: string | undefined): Promise<readonly Event[]> {
  const subject = formatAddress(addressIn(config, to));
  const events = await readFrom(given, subject);
  return events.map((event, i) => {
    try {
      const whom = to === undefined && event.subject !== subject ? formatAddress(addressIn(config, event.subject)) : subject;
      return makeEvent({ ...event, subject: whom }, { id: ids.make('e'), now });
    } catch (error) {
      if (!(error instanceof EarpieceError) || events.length === 1) throw error;
      throw new EarpieceError(error.code, `event ${i + 1} of ${events.length}: ${error.message}`, {
        data: error.data,
        cause: error,
      });
    }
  });
}

/** Reads the events' text from a file, or with "-" from stdin. */
export const eventText = async (file: string): Promise<string> => (file === '-' ? fromStdin() : fromFile(file));

function fromFile(file: string): string {
  try {
    const { size } = statSync(file);
    if (size > MAX_BYTES) throw tooBig(file);
    return utf8(readLimited(file, MAX_BYTES), file);
  } catch (error) {
    if (error instanceof EarpieceError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'does not exist' : code === 'EISDIR' ? 'is a folder' : `cannot be read (${code})`;
    throw new EarpieceError(
      code === 'ENOENT' ? 'not_found' : 'bad_argument',
      `the file ${JSON.stringify(file)} ${why}; name a file with an event in JSON, or - for stdin`,
    );
  }
}

async function fromStdin(): Promise<string> {
  if (process.stdin.isTTY)
    throw new EarpieceError('bad_argument', 'stdin is a terminal; pipe an event in, or name a file with an event');
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw tooBig('stdin');
    chunks.push(chunk);
  }
  return utf8(Buffer.concat(chunks), 'stdin');
}

const tooBig = (what: string): EarpieceError =>
  new EarpieceError('bad_event', `${what} has more than ${MAX_BYTES} bytes, the maximum for events; split the input`);

function utf8(bytes: Buffer, what: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new EarpieceError('bad_event', `${what} is not UTF-8, which JSON requires; convert the text to UTF-8`);
  }
}
