import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import { TerminalError, WaitingError } from '../../errors.ts';
import { mediaTypeOf, readBody } from './answer-body.ts';
import type { ClassAddress } from './class-address.ts';
import type { ClassAnswer } from './class-connection.ts';
import { quoted } from './quoted.ts';

const maxBytes = 64 * 1024;

/** `message` for the condition; `reason` as metav1.Condition has them. */
const refusalSchema = z.object({
  message: z.string().min(1),
  reason: z
    .string()
    .max(1024)
    .regex(/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/)
    .optional(),
});

type Refusal = z.infer<typeof refusalSchema>;

/** Too busy, or not there behind its proxy. */
const waiting: ReadonlySet<number> = new Set([429, 502, 503, 504]);

const hints: Readonly<Record<number, string>> = {
  401: 'give it the right credentials by --provisioner-url-credentials',
  403: 'give it the right credentials by --provisioner-url-credentials',
  404: 'is the URL right?',
};

/**
 * What an answer that is neither 200 nor 204 means. Only a 422 is terminal: a server that does not
 * keep to the contract may be mended, and then nothing tells us so.
 */
export async function refusalOf(answer: ClassAnswer, { name }: ClassAddress): Promise<Error> {
  const { status, token } = answer;
  if (status >= 300 && status < 400) {
    await answer.body.dump({ limit: maxBytes }).catch(() => undefined);
    return new Error(
      `${name} answered ${statusText(status)}: redirects are not followed, as credentials are for the address that was given: correct it`,
    );
  }
  const refusal = await explanation(answer);
  const text = refusal === undefined ? undefined : quoted(refusal.message, token);
  if (status === 422 && refusal !== undefined && text !== undefined) {
    const { reason } = refusal;
    return new TerminalError(`${name}: ${text}`, reason === undefined ? {} : { reason });
  }
  const message = [`${name} answered ${statusText(status)}`, hints[status], text]
    .filter((part) => part !== undefined)
    .join(': ');
  return waiting.has(status) ? new WaitingError(message) : new Error(message);
}

/** Some servers explain themselves in JSON, as they are asked to, or in a plain text. */
async function explanation(answer: ClassAnswer): Promise<Refusal | undefined> {
  const body = await readBody(answer, maxBytes).catch(() => undefined);
  if (body === undefined) return undefined;
  const text = body.toString('utf8');
  const type = mediaTypeOf(answer);
  if (type === 'application/json') return refusalSchema.safeParse(jsonIn(text)).data;
  if (type !== 'text/plain' || answer.status === 422 || text.trim() === '') return undefined;
  return { message: text };
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function statusText(status: number): string {
  const text = STATUS_CODES[status];
  return text === undefined ? String(status) : `${status} ${text}`;
}
