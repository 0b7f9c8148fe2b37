/** Reads and writes the mark of a move, in the metadata of the stream of the logs. */
import type { StreamConfig } from '@nats-io/jetstream';
import type { Mark } from '../moving/port.ts';

const KEY = 'earpiece_move';
/** The metadata key for the stream's earlier `max_msg_size`, which `thawed` restores. */
const SIZE = 'earpiece_move_size';
/** The limit for the size of a message in a frozen stream, in bytes. No message is that small. */
const FROZEN_SIZE = 1;

export function markOf({ metadata }: Pick<StreamConfig, 'metadata'>): Mark | undefined {
  const text = metadata?.[KEY];
  return text === undefined ? undefined : (JSON.parse(text) as Mark);
}

export const marked = <C extends Partial<StreamConfig>>(config: C, mark: Mark): C => ({
  ...config,
  metadata: { ...config.metadata, [KEY]: JSON.stringify(mark) },
});

export function frozen(config: StreamConfig): StreamConfig {
  const size = config.metadata?.[SIZE] ?? String(config.max_msg_size);
  return { ...config, max_msg_size: FROZEN_SIZE, metadata: { ...config.metadata, [SIZE]: size } };
}

/** Returns the stream's configuration with its earlier limit for messages. With `unmarked`, the mark is removed too. */
export function thawed(config: StreamConfig, { unmarked }: { readonly unmarked: boolean }): StreamConfig {
  const { [SIZE]: size, [KEY]: mark, ...metadata } = config.metadata ?? {};
  return {
    ...config,
    max_msg_size: size === undefined ? config.max_msg_size : Number(size),
    metadata: { ...metadata, ...(unmarked || mark === undefined ? {} : { [KEY]: mark }) },
  };
}
