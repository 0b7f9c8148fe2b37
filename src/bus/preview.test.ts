import { expect, it } from 'vitest';
import { previewOf } from './preview.ts';
import type { Subscriber } from './subscriber.ts';
import type { TemplateEngine } from './templates/engine.ts';

const subscriber: Subscriber = {
  id: 'build',
  name: 'Builds',
  description: '',
  version: '1.0.0',
  events: { types: ['build.failed'], severityFilter: 'info' },
  batching: { windowMs: 0, maxSize: 1, dedupeWindowMs: 0, dedupeKey: ['type'] },
  output: {
    priority: 'normal',
    injectAt: 'immediate',
    core: false,
    supersede: false,
    template: { name: 'build.toon.j2', text: '{{ nothing }}', hash: 'h' },
  },
  from: { folder: 'program', file: 'test' },
};

const previewBy = (render: TemplateEngine['render'] | undefined) =>
  previewOf(subscriber, render && { render }, { now: 1_000, subject: 'shop/coder' });

it('the preview of a template without a text says that the template failed, and why', async () => {
  const { words, failed } = await previewBy(async () => ({ kind: 'text', text: ' \n' }));
  expect([words.endsWith('(its template failed)'), failed]).toEqual([true, 'the rendered text is empty']);
});

it('a preview without an engine shows the message of the event, and no failure', async () => {
  const { words, failed } = await previewBy(undefined);
  expect([words.includes('its template failed'), failed]).toEqual([false, undefined]);
});
