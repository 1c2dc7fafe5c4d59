import { z } from 'zod';
import { parseJson as parseExactJson } from '../api/json.ts';
import { record } from '../api/record.ts';

const userSchema = z.object({
  username: z.string(),
  uid: z.string().optional(),
  groups: z.array(z.string()).optional(),
  extra: record(z.array(z.string())).optional(),
});

const admissionRequestSchema = z.object({
  uid: z.string().min(1),
  operation: z.enum(['CREATE', 'UPDATE', 'DELETE', 'CONNECT']),
  namespace: z.string().optional(),
  name: z.string().optional(),
  subResource: z.string().optional(),
  userInfo: userSchema.optional(),
  object: z.unknown().optional(),
  oldObject: z.unknown().optional(),
  /** DeleteOptions of a deletion. */
  options: z.object({ propagationPolicy: z.string().optional() }).nullish(),
});

const admissionReviewSchema = z.object({
  apiVersion: z.literal('admission.k8s.io/v1'),
  kind: z.literal('AdmissionReview'),
  request: admissionRequestSchema,
});

/** The user of the request, as authenticated by the API server. */
export interface AdmissionUser extends z.infer<typeof userSchema> {}

type SentRequest = z.infer<typeof admissionRequestSchema>;

/** The fields of an admission.k8s.io/v1 request that the validators read. */
export interface AdmissionRequest extends SentRequest {
  /** Address of the client that sent it: the API server, or anybody who reaches the webhooks. */
  readonly client?: string;
}

/** metav1.Status, as in an answer. */
interface AdmissionStatus {
  readonly code: number;
  readonly reason?: string;
  readonly message?: string;
}

export interface JsonPatchOperation {
  readonly op: 'add' | 'remove';
  readonly path: string;
  readonly value?: unknown;
}

export interface AdmissionVerdict {
  readonly allowed: boolean;
  /** A mutating webhook's changes of the object. */
  readonly patch?: readonly JsonPatchOperation[];
  readonly status?: AdmissionStatus;
  /** Shown to the user with any verdict; up to 256 characters each. */
  readonly warnings?: readonly string[];
}

/** Decides about one request; a thrown error becomes a refusal with code 500. */
export type AdmissionValidator = (
  request: AdmissionRequest,
  signal: AbortSignal,
) => AdmissionVerdict | Promise<AdmissionVerdict>;

/** The answer to one AdmissionReview. */
export interface AdmissionReviewAnswer {
  readonly apiVersion: 'admission.k8s.io/v1';
  readonly kind: 'AdmissionReview';
  readonly response: Omit<AdmissionVerdict, 'patch'> & {
    readonly uid: string;
    readonly patchType?: 'JSONPatch';
    /** Base64 of the JSON patch. */
    readonly patch?: string;
  };
}

export const allowed: AdmissionVerdict = { allowed: true };

/**
 * A denial. The text goes into `reason` without a `message`, because clients such as kubectl print
 * both, and RukPak's users know this form.
 */
export function denied(text: string): AdmissionVerdict {
  return { allowed: false, status: { code: 403, reason: text } };
}

/**
 * A refusal of a request that could not be judged, with an HTTP status that says whose fault it is.
 */
export function errored(code: number, message: string): AdmissionVerdict {
  return { allowed: false, status: { code, message } };
}

/**
 * Parses the request of an AdmissionReview in JSON.
 * @throws Error in one sentence for anything else.
 */
export function parseAdmissionReview(text: string): SentRequest {
  const parsed = admissionReviewSchema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data.request;
  const [issue] = parsed.error.issues;
  const field = issue === undefined || issue.path.length === 0 ? 'body' : issue.path.join('.');
  throw new Error(`not an AdmissionReview of admission.k8s.io/v1: ${field}: ${issue?.message}`);
}

export function answerReview(
  request: AdmissionRequest,
  { patch, ...verdict }: AdmissionVerdict,
): AdmissionReviewAnswer {
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: { uid: request.uid, ...verdict, ...(patch !== undefined && encoded(patch)) },
  };
}

function encoded(
  patch: readonly JsonPatchOperation[],
): Pick<AdmissionReviewAnswer['response'], 'patch' | 'patchType'> {
  const text = Buffer.from(JSON.stringify(patch), 'utf8').toString('base64');
  return { patchType: 'JSONPatch', patch: text };
}

function parseJson(text: string): unknown {
  try {
    // The limits and defaults in a CRD's schema may exceed the exact range of a double.
    return parseExactJson(text);
  } catch (error) {
    throw new Error('not an AdmissionReview of admission.k8s.io/v1: the body is not JSON', {
      cause: error,
    });
  }
}
