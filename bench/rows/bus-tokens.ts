import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { shippedFolder, subscriberFolders, templateEngine } from '../../src/bus/index.ts';
import { contextOf } from '../../src/bus/templates/context.ts';
import type { Figure, Row } from '../row.ts';

const SIZES = [1, 10, 100];

export const row: Row = {
  name: 'bus-tokens',
  what: 'tokens of 1, 10 and 100 different failures of tools in the shipped template, without a frame. The other sides are compact JSON, indented JSON and a Markdown list',
  bar: [
    { figure: '10 against indented JSON', is: '<=', value: 0.6 },
    { figure: '100 against indented JSON', is: '<=', value: 0.6 },
    { figure: '1 against JSON', is: '<=', value: 1 },
  ],
  async run() {
    const subscriber = subscriberFolders({ shipped: shippedFolder() })
      .of('bench')
      .subscribers.find(({ id }) => id === 'tool_failure');
    const template = subscriber?.output.template;
    if (template === undefined) throw new Error('tool_failure ships no template');
    await using engine = templateEngine();
    const figures: Record<string, Figure> = {};
    let last = { ours: Number.NaN, json: Number.NaN };
    for (const count of SIZES) {
      const facts = Array.from({ length: count }, (_, n) => ({
        tool: `search_${n}`,
        error: n % 2 === 0 ? 'timeout' : 'refused',
        message: `no answer from host ${n} within 30 s`,
      }));
      const rendered = await engine.render(template, contextOf(lineOf(facts)));
      if (rendered.kind === 'failed') throw new Error(rendered.reason);
      const ours = tokens(rendered.text);
      const json = tokens(JSON.stringify(facts));
      const indented = tokens(JSON.stringify(facts, null, 2));
      const list = tokens(facts.map(({ tool, error, message }) => `- **${tool}** ${error}: ${message}`).join('\n'));
      figures[`${count} against JSON`] = { value: ours / json, unit: '' };
      figures[`${count} against indented JSON`] = { value: ours / indented, unit: '' };
      figures[`${count} against Markdown`] = { value: ours / list, unit: '' };
      last = { ours, json };
    }
    return {
      ours: { value: last.ours, unit: 'tokens' },
      theirs: { value: last.json, unit: 'tokens' },
      figures: { ratio: { value: last.ours / last.json, unit: '' }, ...figures },
      note: Object.entries(figures)
        .map(([name, { value }]) => `${name} ${value.toFixed(2)}`)
        .join(', '),
    };
  },
};

const tokens = (text: string): number => encode(text).length;

function lineOf(facts: readonly { tool: string; error: string; message: string }[]): Parameters<typeof contextOf>[0] {
  const subscribed = {
    id: 'tool_failure',
    event: { type: 'tool.call.failure', source: 'agent', severity: 'error', time: 0 },
    group: facts.length,
  };
  return {
    subscriber: subscribed,
    kind: { source: 'tool', name: 'call.failure' },
    level: 'error',
    lastAt: 0,
    group: facts.map(({ tool, error, message }) => ({
      subscribed,
      level: 'error',
      count: 1,
      firstAt: 0,
      lastAt: 0,
      details: [{ message, data: { tool_name: tool, error_type: error, error_message: message } }],
    })),
  };
}
