import type { MirrorEvent } from '../../../catalog/mirror/index.ts';
import type { Report } from '../output/output.ts';
import type { ProgressLine } from './progress-line.ts';

/** Prints the events of a run line by line, with the progress line below them. */
export class EventReport {
  readonly report: Report;
  readonly #line: ProgressLine;
  #printed: Promise<void> = Promise.resolve();

  constructor(report: Report, line: ProgressLine) {
    this.report = report;
    this.#line = line;
  }

  watch(event: MirrorEvent): void {
    if (event.kind === 'planned') return this.#line.begin(event.bytes);
    if (event.kind === 'bytes') return this.#line.add(event.bytes, event.sent);
    this.#line.clear();
    // A closed terminal does not stop the run.
    this.#printed = this.#printed
      .then(() => this.report.line(textOf(event)))
      .catch(() => undefined);
  }

  /** Waits until all lines so far are printed. */
  async printed(): Promise<void> {
    await this.#printed;
  }
}

function textOf(event: Exclude<MirrorEvent, { readonly kind: 'planned' | 'bytes' }>): string {
  if (event.kind === 'note') return `note: ${event.text}`;
  if (event.kind === 'failed') return `error: ${event.source}: ${event.problem}`;
  return `${event.kind}  ${event.source}`;
}
