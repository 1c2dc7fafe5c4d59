import { z } from 'zod';
import { quoted, TerminalError } from '../../errors.ts';
import { statusText, type TransportResponse } from '../http/response.ts';

/** Body of a registry's error answer (distribution spec, error codes). */
const refusalSchema = z.object({
  errors: z
    .array(
      z.object({
        code: z.string().optional(),
        message: z.string().optional(),
      }),
    )
    .min(1),
});

const maxAnswer = 64 * 1024;

/**
 * Why a registry refuses a push, as one sentence; reads the answer to its end.
 * @param what content and target: `blob sha256:… for quay.io/org/app`
 */
export async function refusedPush(
  response: TransportResponse,
  what: string,
): Promise<TerminalError> {
  const text = await textOf(response);
  const reason = reasonOf(text);
  return new TerminalError(
    `registry ${response.url.host} refuses ${what}: ${statusText(response.status)}${reason}`,
  );
}

function reasonOf(text: string): string {
  const errors = parsed(text)?.errors ?? [];
  const reasons = errors.slice(0, 3).map(({ code, message }) => {
    const said = (message ?? '') === '' ? undefined : quoted(message ?? '');
    return [code, said].filter((part) => part !== undefined).join(' ');
  });
  if (reasons.length > 0) return ` (${reasons.join('; ')})`;
  return text.trim() === '' ? '' : ` (${quoted(text.trim())})`;
}

function parsed(text: string): z.infer<typeof refusalSchema> | undefined {
  try {
    return refusalSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

async function textOf({ body }: TransportResponse): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      chunks.push(chunk);
      size += chunk.byteLength;
      if (size > maxAnswer) break;
    }
  } catch {
    // The status says enough.
  }
  return Buffer.concat(chunks).toString('utf8').slice(0, maxAnswer);
}
