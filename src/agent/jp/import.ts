import { basename, join } from 'node:path';
import { readLimited } from '../../input/index.ts';
import { MAIN, parseAddress, conversationId, logOf, nameFrom, formatAddress } from '../../core/address.ts';
import { defined } from '../../core/defined.ts';
import { EarpieceError } from '../../core/errors.ts';
import type { Json } from '../../core/json.ts';
import type { Draft } from '../../core/records.ts';
import type { Inbox } from '../../inbox/index.ts';
import { checkEntries } from './checked.ts';
import { recordOf } from './entries.ts';
import { closeByPosition } from './positional.ts';

export type Imported = {
  readonly address: string;
  readonly title?: string;
  readonly records: number;
  readonly byType: Readonly<Record<string, number>>;
  readonly pending: number;
};

/** The maximum size of a conversation file. */
const MAX_BYTES = 256 * 1_048_576;

/**
 * Reads a conversation folder of JP (`metadata.json`, `base_config.json`, `events.json`) into the log, as a conversation of the
 * agent that `to` names. The conversation gets the folder's name, unless `to` names a conversation other than `main`. Throws
 * `bad_argument` if the folder is not JP's, or if the conversation already has records.
 */
export async function importJp(inbox: Inbox, folder: string, to: string): Promise<Imported> {
  const name = basename(folder.replace(/\/+$/, ''));
  const parsed = parseAddress(to);
  if (parsed.kind === 'project')
    throw new EarpieceError(
      'bad_address',
      `the address must name one agent, got the whole project ${to}: write ${parsed.project}/<agent>`,
    );
  const conversation =
    parsed.kind === 'conversation' && parsed.conversation !== MAIN ? parsed.conversation : conversationId(nameFrom(name));
  const log = logOf(parsed);

  const entries = readJson(join(folder, 'events.json'), true);
  if (!Array.isArray(entries))
    throw new EarpieceError(
      'bad_argument',
      `${join(folder, 'events.json')} is not a list of events; name a conversation folder of JP`,
    );
  const events = checkEntries(entries, join(folder, 'events.json'));
  const metadata = readJson(join(folder, 'metadata.json'), false) as { title?: string } | undefined;
  const base = readJson(join(folder, 'base_config.json'), false);
  const first = await inbox.store.read({ log, conversation, limit: 1 });
  if (first.length > 0)
    throw new EarpieceError(
      'bad_argument',
      `${log}#${conversation} already has records; import to another conversation: --to ${log}#<name>`,
    );

  const policy = inbox.policies.policy(log.slice(0, log.indexOf('/')));
  const prefix = `jp-${nameFrom(name).replaceAll(/[\s,]/g, '-')}`;
  const converted = closeByPosition(
    events.map((entry) => recordOf(entry)),
    { prefix, conversation, now: inbox.store.now(), ttlMs: policy.ttlMs },
  );
  const drafts: Draft[] = [
    {
      type: 'conversation_imported',
      from: 'jp',
      name,
      ...defined({ metadata_json: metadata, base_config: base }),
    } as Draft,
    ...converted,
  ].map((draft) => ({ ...draft, conversation }));
  const appended = await inbox.store.append(log, drafts);
  if (appended.kind !== 'appended')
    throw new EarpieceError('bad_argument', `${log} already has the notifications of ${name}; import to another agent`);

  const byType: Record<string, number> = {};
  for (const { type } of events) byType[type] = (byType[type] ?? 0) + 1;
  const pending = (await inbox.store.items(log, { kind: 'open', conversation })).filter((item) =>
    item.id.startsWith(prefix),
  ).length;
  const [project = '', agent = ''] = log.split('/');
  return {
    address: formatAddress({ kind: 'conversation', project, agent, conversation }),
    ...(metadata?.title === undefined ? {} : { title: metadata.title }),
    records: events.length,
    byType,
    pending,
  };
}

function readJson(file: string, needed: boolean): Json | undefined {
  let text: string;
  try {
    text = readLimited(file, MAX_BYTES).toString('utf8');
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? String(cause);
    if (!needed && code === 'ENOENT') return undefined;
    throw new EarpieceError(
      code === 'ENOENT' ? 'not_found' : 'bad_argument',
      `${file} cannot be read (${code}); name a conversation folder of JP, e.g. .jp/conversations/<id>-<slug>`,
    );
  }
  try {
    return JSON.parse(text.replace(/^\uFEFF/u, '')) as Json;
  } catch (cause) {
    throw new EarpieceError(
      'bad_argument',
      `${file} is not JSON (${(cause as Error).message}); name a conversation folder of JP`,
    );
  }
}
