/**
 * Lists mistakes that must not compile. If a line compiles, its unused `@ts-expect-error` makes `tsc` fail. Nothing here runs.
 */
import { openEarpiece, type Conversation, type Earpiece } from 'earpiece';
import { createAgent } from 'earpiece/agent';
import { inboxRider } from 'earpiece/gateway';
import { createServer } from 'earpiece/server';
import { filesSource, runAndTell } from 'earpiece/sources';

export const mistakes = (ear: Earpiece, coder: Conversation): readonly unknown[] => [
  // @ts-expect-error -- a misspelt option
  openEarpiece({ dbb: 'memory:' }),
  // @ts-expect-error -- a misspelt setting
  openEarpiece({ policy: { maxItem: 3 } }),
  // @ts-expect-error -- a misspelt key
  ear.queue('coder', { message: 'x', levle: 'error' }),
  // @ts-expect-error -- a misspelt level
  ear.queue('coder', { message: 'x', level: 'eror' }),
  // @ts-expect-error -- no message
  ear.queue('coder', { level: 'error' }),
  // @ts-expect-error -- a misspelt moment
  ear.queue('coder', { message: 'x', deliver: 'turn_strat' }),
  // @ts-expect-error -- a misspelt moment with a value
  ear.queue('coder', { message: 'x', deliver: { inMS: 5 } }),
  // @ts-expect-error -- data that JSON cannot hold
  ear.queue('coder', { message: 'x', data: () => 1 }),
  // @ts-expect-error -- data that JSON cannot hold
  ear.queue('coder', { message: 'x', data: { n: 1n } }),
  // @ts-expect-error -- data that JSON cannot hold
  ear.queue('coder', { message: 'x', data: new Map([['a', 1]]) }),
  // @ts-expect-error -- no content
  coder.toolResult({ id: 'call_1' }),
  // @ts-expect-error -- a content that is not a text
  coder.toolResult({ id: 'call_1', content: { ok: true } }),
  // @ts-expect-error -- a misspelt key
  coder.toolResult({ id: 'call_1', content: '', is_error: true }),
  // @ts-expect-error -- a record instead of a tool result
  coder.toolResult({ type: 'tool_call_respones', id: 'call_1', content: '' }),
  // @ts-expect-error -- a message that is not a text
  coder.userMessage({ content: 'x' }),
  // @ts-expect-error -- an unknown contact point
  coder.offer({ at: 'toolresult' }),
  // @ts-expect-error -- an unknown contact point
  coder.preview({ at: 'toolresult' }),
  // @ts-expect-error -- an unknown contact point
  ear.conversation('coder', { points: ['tool_results'] }),
  // @ts-expect-error -- an unknown view
  ear.conversation('coder', { view: 'makdown' }),
  // @ts-expect-error -- no name of a tool
  coder.refuse(),
  // @ts-expect-error -- an object instead of the name of a tool
  coder.refuse({ on: 'deploy' }),
  // @ts-expect-error -- an unknown receipt
  ear.receipt('x', { until: 'deliverd' }),
  // @ts-expect-error -- a misspelt option
  ear.receipt('x', { until: 'read', within: 5 }),
  // @ts-expect-error -- an unknown record type
  ear.watch({ types: ['system_notification_queud'] }),
  // @ts-expect-error -- a record type outside a list
  ear.watch({ types: 'turn_start' }),
  // @ts-expect-error -- neither id nor key
  ear.withdraw('coder', {}, { by: 'me', reason: 'x' }),
  // @ts-expect-error -- no person
  ear.resume('coder', {}),
  // @ts-expect-error -- no source
  ear.events.emit({ type: 'build.failed', subject: 'coder' }),
  // @ts-expect-error -- an unknown severity
  ear.events.emit({ type: 'build.failed', source: 'ci', subject: 'coder', severity: 'warn' }),
  // @ts-expect-error -- an unknown priority
  ear.tasks.create({ title: 'x', priority: 'hihg' }, { by: { kind: 'person', name: 'anna' } }),
  // @ts-expect-error -- no model
  createAgent({ earpiece: ear, address: 'coder' }),
  // @ts-expect-error -- an unknown view
  inboxRider({ earpiece: ear, view: 'plain' }),
  // @ts-expect-error -- a misspelt option
  createServer({ earpiece: ear, allowHosts: [] }),
  // @ts-expect-error -- no root
  filesSource({ earpiece: ear, subject: 'coder' }),
  // @ts-expect-error -- no command
  runAndTell({ earpiece: ear, subject: 'coder' }),
];
