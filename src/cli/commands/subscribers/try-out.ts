/** `earpiece subscribers test`: shows the notification that a subscriber would make of an event. */
import type { Subscriber, SubscriberSet } from '../../../bus/index.ts';
import { EarpieceError } from '../../../core/errors.ts';
import type { EventInput } from '../../../core/event.ts';
import { openLoadedInbox } from '../../../loaded-inbox.ts';
import type { Answer, CommandLine } from '../../command-line.ts';
import type { GlobalOptions } from '../../context.ts';
import { EXIT } from '../../exit.ts';
import { barred } from '../../foreign.ts';
import { plain, print, printJson } from '../../terminal.ts';
import { eventText } from '../emit.ts';
import { named, problemLine } from './here.ts';

export function tryOut(group: CommandLine, answer: Answer): void {
  group
    .command('test <subscriber> <event>')
    .summary('show the result of an event')
    .description(
      'Shows the notification that a subscriber would make of an event, or why the subscriber would ignore the event. Name the subscriber by its file, or by its id if the subscriber applies here. ' +
        'The event file contains a CloudEvent in JSON, a list of CloudEvents, or one CloudEvent per line; "-" reads stdin. Nothing is queued.',
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

/** Emits the events in a database in memory, with the usual matching, counting, grouping and rendering, and shows the results. */
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
  // At this contact point, every named moment is due except `turn_start` and `turn_end`.
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
        `${plain(type)}: ${one.kind === 'skipped' ? `not heard, ${plain(one.because)}` : one.kind === 'withdrew' ? 'withdraws open notifications with its key' : 'matched'}`,
      );
    for (const { text: said } of view?.items ?? []) print(`\n${barred(said)}`);
    for (const reason of failed) print(`\n  ${plain(reason)}`);
    for (const why of new Set(waits)) print(`\n  not at once: ${plain(why)}`);
    for (const line of troubles) print(`\n${plain(line)}`);
  }
  if (failed.length > 0) answer(EXIT.problems.code);
  else if (heard.every(({ heard: one }) => one.kind === 'skipped')) answer(EXIT.nobody.code);
}

async function eventsIn(
  given: { readonly text: string; readonly from: string },
  subject: string,
): Promise<readonly EventInput[]> {
  const { cloudEventsIn } = await import('../../../sources/webhooks/cloud-event.ts');
  try {
    return cloudEventsIn(given.text, { source: 'cli', subject });
  } catch (error) {
    if (!(error instanceof EarpieceError)) throw error;
    throw new EarpieceError(error.code, `${given.from}: ${error.message}`, { data: error.data, cause: error });
  }
}

const notItsType = ({ events }: Subscriber, type: string): string => `type ${type} is not among ${events.types.join(', ')}`;
