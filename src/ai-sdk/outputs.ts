/**
 * Adds a view to a tool's result. The tool's own text comes first and does not change.
 *
 * Anthropic and OpenAI's Responses API keep the parts of a result separate, so the view becomes a separate part. Other providers'
 * packages turn several parts into JSON (OpenAI chat), or into several results, which Gemini refuses. For these providers, the
 * view is appended to the result's text, if the result ends with text.
 */
import { defined } from '../core/defined.ts';
import type { ModelOutput, TextPart } from './shapes.ts';

/** Whether the provider's package sends each part of a result as a separate part. */
export const keepsParts = (provider: string): boolean => /anthropic|\.responses$/.test(provider);

/** Returns the output, followed by the view; undefined if the output cannot contain a view. */
export function withView(output: ModelOutput, view: string, parts: boolean): ModelOutput | undefined {
  switch (output.type) {
    case 'content': {
      const last = output.value.at(-1);
      if (parts || !isText(last)) return { ...output, value: [...output.value, textPart(view)] };
      return { ...output, value: [...output.value.slice(0, -1), { ...last, text: behind(last.text, view) }] };
    }
    case 'text':
    case 'json': {
      const own = output.type === 'text' ? output.value : JSON.stringify(output.value ?? null);
      const { providerOptions } = output;
      if (!parts) return { ...output, type: 'text', value: behind(own, view) };
      // Anthropic refuses a blank text part.
      if (own.trim() === '') return { type: 'content', value: [textPart(view)] };
      return {
        type: 'content',
        value: [{ ...textPart(own), ...defined({ providerOptions }) }, textPart(view)],
      };
    }
    case 'error-text':
    case 'error-json': {
      const own = output.type === 'error-text' ? output.value : JSON.stringify(output.value ?? null);
      return { ...output, type: 'error-text', value: behind(own, view) };
    }
    case 'execution-denied':
      return undefined;
    default:
      return output satisfies never;
  }
}

/**
 * Returns the error with the view after the error's message, because the SDK sends the message to the model. Returns undefined if
 * the error is neither a text nor an `Error`.
 */
export function errorWithView(error: unknown, view: string): unknown {
  if (typeof error === 'string') return behind(error, view);
  if (!(error instanceof Error)) return undefined;
  return Object.create(error, { message: { value: behind(error.message, view), enumerable: false } }) as Error;
}

/** Returns the output that the SDK itself makes for a tool without a `toModelOutput` function. */
export const plainOutput = (output: unknown): ModelOutput =>
  typeof output === 'string' ? { type: 'text', value: output } : { type: 'json', value: output ?? null };

export const textPart = (text: string): TextPart => ({ type: 'text', text });

const isText = (part: unknown): part is TextPart =>
  typeof part === 'object' && part !== null && (part as { type?: unknown }).type === 'text';

const behind = (own: string, view: string): string => (own === '' ? view : `${own}\n\n${view}`);
