import { parseJson } from '../../../api/json.ts';
import { ApiError, type ApiStatus } from './api-error.ts';
import type { TextResponse } from './text-response.ts';

/** The refusal in an answer: the server's own Status, or what a proxy on the way said. */
export function apiErrorOf({ status, text }: Omit<TextResponse, 'headers'>): ApiError {
  return new ApiError(status, statusIn(text) ?? { message: plainMessage(status, text) });
}

/** A metav1.Status of any origin, as an error. */
export function apiErrorOfStatus(object: object): ApiError {
  const status = object as ApiStatus;
  return new ApiError(status.code ?? 500, status);
}

function statusIn(text: string): ApiStatus | undefined {
  try {
    const value = parseJson(text);
    const isStatus = typeof value === 'object' && value !== null && 'kind' in value;
    return isStatus && value['kind'] === 'Status' ? value : undefined;
  } catch {
    return undefined;
  }
}

function plainMessage(status: number, text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim().slice(0, 200);
  return `the server answered with HTTP status ${status}${line === '' ? '' : `: ${line}`}`;
}
