/**
 * At the end of a turn, sends all questions about background tools to the model in one separate request (RFD 037 of JP).
 */
import { TURN_END_ANSWERS, type Inquiry, type TurnEndAnswer } from '../handles/index.ts';

/**
 * Makes the function that sends the questions at the end of a turn. `ask` sends one text to the model. The function returns
 * only the valid answers in the model's reply, and no answer if the reply contains no JSON object.
 */
export const askInquiries =
  (ask: (question: string) => Promise<string>) =>
  async (inquiries: readonly Inquiry[]): Promise<Readonly<Record<string, TurnEndAnswer>>> => {
    const lines = inquiries.map(({ id, question }) => `- ${JSON.stringify(id)}: ${question.text}`);
    const form = `{${inquiries.map(({ id }) => `${JSON.stringify(id)}: "${TURN_END_ANSWERS.join('|')}"`).join(', ')}}`;
    const said = await ask(
      `Your turn is about to end while these run in the background:\n${lines.join('\n')}\nAnswer with this JSON object and nothing else: ${form}`,
    );
    return answersIn(
      said,
      inquiries.map(({ id }) => id),
    );
  };

function answersIn(said: string, ids: readonly string[]): Readonly<Record<string, TurnEndAnswer>> {
  const [object] = /\{[\s\S]*\}/.exec(said) ?? [];
  let parsed: unknown;
  try {
    parsed = JSON.parse(object ?? '');
  } catch {
    return {};
  }
  const given = Object.entries(parsed as Record<string, unknown>).filter(
    ([id, answer]) => ids.includes(id) && TURN_END_ANSWERS.includes(answer as TurnEndAnswer),
  );
  return Object.fromEntries(given) as Record<string, TurnEndAnswer>;
}
