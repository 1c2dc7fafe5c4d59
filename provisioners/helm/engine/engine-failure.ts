import { errorMessage, TerminalError } from '../../../core/sdk.ts';

/** What ended an instance, told by what was thrown and what Go printed before. */
export function engineFailure(thrown: unknown, output: string, memoryMegabytes: number): Error {
  if (/out of memory|cannot allocate memory/.test(output)) {
    return new TerminalError(
      `rendering the chart needs more than ${memoryMegabytes} MiB of memory: make it smaller, or look for a template that repeats itself without an end`,
      { cause: thrown },
    );
  }
  if (thrown instanceof RangeError || output.includes('stack exceeds')) {
    return new TerminalError(
      'the templates or values of the chart nest too deeply to be rendered: look for a template that calls itself',
      { cause: thrown },
    );
  }
  const said = output.trim() || errorMessage(thrown);
  return new Error(`Helm's engine ended, which is a defect of it: ${said}`, { cause: thrown });
}
