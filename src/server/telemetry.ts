/** Reports to OpenTelemetry if the host program uses it. `@opentelemetry/api` is an optional peer dependency. */
import type * as api from '@opentelemetry/api';

type OpenTelemetry = Pick<typeof api, 'trace' | 'metrics' | 'SpanStatusCode'>;
type Attributes = Readonly<Record<string, string | number>>;

export interface Telemetry {
  /**
   * Runs work in a span. An exception is recorded and thrown again. `set` adds attributes later. `failed` marks the span as
   * failed without an exception.
   */
  span<T>(
    name: string,
    attributes: Attributes,
    work: (set: (more: Attributes) => void, failed: (why: string) => void) => Promise<T>,
  ): Promise<T>;
  /** Records a span without a duration, for work of another process at this time (epoch ms). */
  happened(name: string, at: number, attributes: Attributes): void;
  count(name: string, attributes: Attributes): void;
}

export const NO_TELEMETRY: Telemetry = {
  span: (_name, _attributes, work) =>
    work(
      () => {},
      () => {},
    ),
  happened: () => {},
  count: () => {},
};

/**
 * Loads OpenTelemetry; returns `NO_TELEMETRY` if the package is not installed. Without a registered SDK, OpenTelemetry ignores
 * all calls. `load` imports the package. The return type is `unknown`, because a program without the package could not compile a
 * declaration that names the package's types.
 */
export async function openTelemetry(load: () => Promise<unknown> = () => import('@opentelemetry/api')): Promise<Telemetry> {
  let loaded: OpenTelemetry;
  try {
    loaded = (await load()) as OpenTelemetry;
  } catch {
    return NO_TELEMETRY;
  }
  const { trace, metrics, SpanStatusCode } = loaded;
  const tracer = trace.getTracer('earpiece');
  const meter = metrics.getMeter('earpiece');
  const counters = new Map<string, ReturnType<typeof meter.createCounter>>();
  return {
    span: (name, attributes, work) =>
      tracer.startActiveSpan(name, { attributes }, async (span) => {
        try {
          return await work(
            (more) => span.setAttributes(more),
            (why) => span.setStatus({ code: SpanStatusCode.ERROR, message: why }),
          );
        } catch (error) {
          span.recordException(error instanceof Error ? error : String(error));
          span.setStatus({ code: SpanStatusCode.ERROR });
          throw error;
        } finally {
          span.end();
        }
      }),
    happened: (name, at, attributes) => tracer.startSpan(name, { startTime: at, attributes }).end(at),
    count: (name, attributes) => {
      let counter = counters.get(name);
      if (counter === undefined) counters.set(name, (counter = meter.createCounter(name)));
      counter.add(1, attributes);
    },
  };
}
