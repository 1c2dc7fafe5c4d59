const quiet = 1_000;
const reminder = 10_000;

/** Runs a step of a command, and says which one where it takes long. */
export type Progress = <T>(step: string, work: () => Promise<T>) => Promise<T>;

interface ProgressOutput {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** A line after a second, and one every ten seconds after that; only for a person at a terminal. */
export function progressOn(output: ProgressOutput): Progress {
  if (output.isTTY !== true) return async (_step, work) => await work();
  return async (step, work) => {
    const start = Date.now();
    const first = setTimeout(() => output.write(`${step} …\n`), quiet);
    const more = setInterval(() => {
      output.write(`${step} … ${Math.round((Date.now() - start) / 1000)} s\n`);
    }, reminder);
    try {
      return await work();
    } finally {
      clearTimeout(first);
      clearInterval(more);
    }
  };
}
