import type { IncomingHttpHeaders } from 'node:http';

/** Digest and time that identify a state of a resource. */
export interface Validators {
  /** Tag of the content, without quotes. */
  readonly tag: string;
  readonly modified: Date;
}

/** Marks the ETag of the same content in another encoding, as common web servers do. */
const gzipMark = '-gzip';

export function entityTag({ tag }: Validators, isGzip: boolean): string {
  return `"${tag}${isGzip ? gzipMark : ''}"`;
}

/** The status instead of content by a request's conditions: 304, 412, or undefined. */
export function conditionalStatus(
  headers: IncomingHttpHeaders,
  validators: Validators,
): 304 | 412 | undefined {
  if (headers['if-match'] !== undefined) {
    if (!matches(headers['if-match'], validators)) return 412;
  } else if (isAfter(validators.modified, headers['if-unmodified-since'])) {
    return 412;
  }
  if (headers['if-none-match'] !== undefined) {
    return matches(headers['if-none-match'], validators) ? 304 : undefined;
  }
  const since = dateOf(headers['if-modified-since']);
  return since !== undefined && seconds(validators.modified) <= seconds(since) ? 304 : undefined;
}

/** Whether the client has the content compressed. */
export function namesGzip(headers: IncomingHttpHeaders, validators: Validators): boolean {
  return headers['if-none-match']?.includes(entityTag(validators, true)) === true;
}

function matches(list: string, { tag }: Validators): boolean {
  if (list.trim() === '*') return true;
  return list.split(',').some((item) => {
    const bare = item.trim().replace(/^W\//, '');
    return bare === `"${tag}"` || bare === `"${tag}${gzipMark}"`;
  });
}

/** Bytes from `start` to before `end`. */
export interface RequestedRange {
  readonly start: number;
  readonly end: number;
}

/**
 * The requested part. Undefined for all of the content: without a range, with several, in another
 * unit, or with an If-Range of an older state.
 */
export function requestedRange(
  headers: IncomingHttpHeaders,
  validators: Validators,
  size: number,
): RequestedRange | 'unsatisfiable' | undefined {
  const asked = /^bytes=(?!-$)(\d*)-(\d*)$/.exec(headers.range ?? '');
  if (asked === null || !isSameState(headers['if-range'], validators)) return undefined;
  const [, first = '', last = ''] = asked;
  const { start, end } = first === '' ? lastBytes(Number(last), size) : bytes(first, last, size);
  return start >= size || end <= start ? 'unsatisfiable' : { start, end };
}

function lastBytes(length: number, size: number): RequestedRange {
  return { start: Math.max(0, size - length), end: size };
}

function bytes(first: string, last: string, size: number): RequestedRange {
  return { start: Number(first), end: last === '' ? size : Math.min(Number(last) + 1, size) };
}

function isSameState(condition: unknown, validators: Validators): boolean {
  if (typeof condition !== 'string') return true;
  if (condition.startsWith('"')) return condition === entityTag(validators, false);
  const date = dateOf(condition);
  return date !== undefined && seconds(date) === seconds(validators.modified);
}

function isAfter(modified: Date, text: string | undefined): boolean {
  const date = dateOf(text);
  return date !== undefined && seconds(modified) > seconds(date);
}

function dateOf(text: string | undefined): Date | undefined {
  const date = new Date(text ?? Number.NaN);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

/** Dates in HTTP have whole seconds. */
function seconds(date: Date): number {
  return Math.floor(date.getTime() / 1000);
}

/** Whether a header `Accept-Encoding` accepts gzip. */
export function acceptsGzip(header: string | undefined): boolean {
  return (header ?? '').split(',').some((item) => {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim().toLowerCase());
    return name === 'gzip' && !parameters.some((each) => /^q=0(?:\.0*)?$/.test(each));
  });
}
