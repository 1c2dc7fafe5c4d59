import { createInterface } from 'node:readline/promises';

/** Asks a question at the terminal; true for a yes. */
export async function isConfirmed(question: string, signal?: AbortSignal): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  // Ctrl-D ends the input, and leaves the question without an answer.
  const closed = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
  try {
    const options = signal === undefined ? {} : { signal };
    const asked = lines.question(`${question} [y/N] `, options);
    const answer = await Promise.race([asked, closed]);
    return /^y(?:es)?$/i.test(answer.trim());
  } finally {
    lines.close();
  }
}
