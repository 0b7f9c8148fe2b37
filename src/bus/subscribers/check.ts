/**
 * Finds problems that the parser cannot find: templates and conditions that do not compile, and templates that fail for sample
 * events.
 */
import { dirname, join } from 'node:path';
import { defined } from '../../core/defined.ts';
import type { Json } from '../../core/json.ts';
import { levelOf, messageOf } from '../../core/event.ts';
import { isKnownType } from '../event-types.ts';
import { sampleEvent } from '../samples.ts';
import type { Subscriber, SubscriberProblem } from '../subscriber.ts';
import { contextOf } from '../templates/context.ts';
import type { TemplateEngine } from '../templates/engine.ts';
import type { FolderState } from './folder.ts';

/** A file that was parsed without errors. */
export type Checked = FolderState['files'][number];
type Engine = Pick<TemplateEngine, 'check' | 'checkExpression' | 'render'>;

/** Finds the problems of the templates and conditions in `files`. A template that several subscribers use is compiled once. */
export async function checkRunning(files: readonly Checked[], engine: Engine): Promise<readonly SubscriberProblem[]> {
  const problems: SubscriberProblem[] = [];
  const seen = new Set<string>();
  for (const file of files) {
    const { subscriber, at } = file;
    const { condition, output } = subscriber;
    const wrong = condition === undefined ? undefined : await engine.checkExpression(condition.expression);
    if (wrong !== undefined)
      problems.push({ file: file.file, ...at.condition, severity: 'error', message: `condition.expression: ${wrong.message}` });
    const { template } = output;
    if (template === undefined) continue;
    const path = join(dirname(file.file), template.name);
    const compiled = seen.has(path) ? undefined : await engine.check(template);
    seen.add(path);
    if (compiled !== undefined)
      problems.push({
        file: path,
        ...(compiled.line === undefined ? {} : { line: compiled.line, column: 1 }),
        severity: 'error',
        message: compiled.message,
      });
    else {
      const failed = await failsForSample(subscriber, engine);
      if (failed !== undefined) problems.push({ file: path, ...failed });
    }
  }
  return problems;
}

/**
 * Renders the template for one and for three sample events. Checks only known event types, because the fields of other events are
 * unknown.
 */
async function failsForSample(
  subscriber: Subscriber,
  engine: Engine,
): Promise<Pick<SubscriberProblem, 'severity' | 'message'> | undefined> {
  const { template } = subscriber.output;
  const { type, message, data = {}, severity = 'info', source } = sampleEvent(subscriber);
  if (template === undefined || !isKnownType(type)) return undefined;
  const time = Date.UTC(2026, 0, 1);
  const subscribed = { id: subscriber.id, event: { type, source, severity, time }, group: subscriber.batching.maxSize };
  const [, name = ''] = type.split('.');
  const said = { message: messageOf({ type, data, ...defined({ message }) }), data: data as Json };
  const level = levelOf(severity);
  for (const count of [1, 3]) {
    const group = Array.from({ length: count }, () => ({
      subscribed,
      level,
      count,
      firstAt: time,
      lastAt: time,
      details: [said],
    }));
    const line = { subscriber: subscribed, group, kind: { source: type.split('.')[0] ?? '', name }, level, lastAt: time };
    const rendered = await engine.render(template, contextOf(line));
    if (rendered.kind === 'text' && rendered.text.trim() !== '') continue;
    const reason = rendered.kind === 'text' ? 'the text is empty' : rendered.reason;
    return {
      severity: 'warning',
      message: `fails for ${count === 1 ? `a ${type}` : `${count} events of type ${type}`}: ${reason}`,
    };
  }
  return undefined;
}
