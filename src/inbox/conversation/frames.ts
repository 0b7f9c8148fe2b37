/**
 * Makes the texts for the model of one conversation: lines from their subscribers' templates, and frames in the conversation's
 * view.
 */
import type { Item } from '../../core/items.ts';
import { isUnsaid, lineAlone, NO_FACTS, plan, type Facts } from '../../core/make-plan.ts';
import { lineName, type Line, type Plan, type Said } from '../../core/plan.ts';
import type { Policy } from '../../core/policy.ts';
import type { ContactPoint, SentView, ViewName } from '../../core/records.ts';
import type { Render, ViewInput } from '../../core/views/view.ts';
import type { Contact } from './contact.ts';
import { formatOf, policyOf, pullName, type Recipient } from './recipient.ts';
import { rendererOf } from './views.ts';

/**
 * The number of rounds of rendering after which a plan takes a line without a text only as its first line. Other lines without a
 * text wait for the next carrier, or are summarized.
 */
const ROUNDS = 4;

/** A rendered frame. `explains`: the frame explains the mark to a model that does not know the mark. */
export type Framed = { readonly view: SentView; readonly explains: boolean };

export class Frames {
  readonly #recipient: Recipient;
  readonly #contact: Contact;
  readonly #failedTemplates = new Set<string>();

  constructor(recipient: Recipient, contact: Contact) {
    this.#recipient = recipient;
    this.#contact = contact;
  }

  /**
   * Plans a carrier with the texts of its templates. A text can be longer than the plan assumed. Therefore, this method renders
   * the taken lines and plans again, until each taken line has its text. Each line is rendered once. `said`: the texts from an
   * earlier plan of these items, to which the method adds the new texts.
   */
  async plan(
    items: readonly Item[],
    at: ContactPoint,
    { policy, facts, now }: { readonly policy: Policy; readonly facts: Facts; readonly now: number },
    said = new Map<string, Said>(),
  ): Promise<Plan> {
    for (let round = 1; ; round++) {
      const made = plan(items, at, policy, { ...facts, said, saidAll: round > ROUNDS }, now);
      const unsaid = this.#recipient.context.lines === undefined ? [] : made.lines.filter((line) => isUnsaid(line));
      if (unsaid.length === 0) return made;
      const all = await Promise.all(unsaid.map(async (line) => [lineName(line), await this.#said(line)] as const));
      for (const [name, what] of all) said.set(name, what);
    }
  }

  /** Renders the frame of a plan. */
  async of(made: Plan, policy: Policy, format: ViewName): Promise<Framed> {
    const { mark, isKnown } = await this.#contact.mark();
    const render = await rendererOf(format);
    const view = render(format, this.#frame(policy, { lines: made.lines, rest: made.rest, mark, tellMark: !isKnown }));
    return { view, explains: !isKnown };
  }

  /** Renders the frame of all interrupts of a gate, without a budget. */
  async ofGate(gate: readonly Item[]): Promise<Framed> {
    const policy = { ...policyOf(this.#recipient), maxItems: gate.length, maxTokens: Number.POSITIVE_INFINITY };
    const made = await this.plan(
      gate.map((item) => ({ ...item, state: 'open' as const })),
      'forced',
      { policy, facts: NO_FACTS, now: this.#recipient.context.store.now() },
    );
    return this.of(made, policy, formatOf(this.#recipient));
  }

  /** Returns the text of an item that the model pulls before any frame has shown it. The item's template is not used. */
  ofOne(item: Item, render: Render): string {
    const frame = this.#frame(policyOf(this.#recipient), {
      lines: [lineAlone(item)],
      rest: undefined,
      mark: '',
      tellMark: false,
    });
    const { items } = render(formatOf(this.#recipient), frame);
    return items[0]?.text ?? item.notification.message;
  }

  #frame({ maxItemChars, maxTokens }: Policy, what: Pick<ViewInput, 'lines' | 'rest' | 'mark' | 'tellMark'>): ViewInput {
    const { context } = this.#recipient;
    return {
      ...what,
      pulls: pullName(this.#recipient),
      private: context.store.private === true,
      maxItemChars,
      maxTokens,
      // `timeZone` is a getter, so that the zone is read from the system only if a time is shown.
      get timeZone() {
        return context.timeZone;
      },
    };
  }

  /** Renders a line with its template, and records a failure. */
  async #said(line: Line): Promise<Said> {
    const { lines: renderer, timeZone } = this.#recipient.context;
    const rendered = await renderer?.render(line, { timeZone });
    if (rendered?.kind === 'text' && rendered.text.trim() !== '') return rendered;
    await this.#templateFailed(line, rendered?.kind === 'failed' ? rendered.reason : 'the rendered text is empty');
    return { kind: 'failed' };
  }

  /**
   * Records that a template failed, once for each template, so that a loop does not fill the log. A failing append does not stop
   * the delivery.
   */
  async #templateFailed({ ids, subscriber }: Line, reason: string): Promise<void> {
    const { id, template } = subscriber ?? {};
    if (template === undefined || this.#failedTemplates.has(template)) return;
    this.#failedTemplates.add(template);
    const { context, log, id: conversation } = this.#recipient;
    const record = { type: 'template_failed', conversation, subscriber: id, template, reason, ids };
    await context.store.append(log, [record]).catch(() => undefined);
  }
}
