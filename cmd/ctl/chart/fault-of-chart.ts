import { TerminalError } from '../../../core/errors.ts';

/**
 * What is wrong with a chart, of what was thrown for it.
 * @throws the error itself where that is no fault of the chart, such as an engine that is not built.
 */
export function faultOfChart(error: unknown): string {
  if (error instanceof TerminalError) return error.message;
  throw error;
}
