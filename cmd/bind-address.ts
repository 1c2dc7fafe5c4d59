import { InvalidArgumentError } from 'commander';
import { errorMessage } from '../core/errors.ts';
import { parseBindAddress } from '../core/platform/runtime/index.ts';

/** `:8081` or `host:8081`; `0` is off. */
export function bindAddress(text: string): string {
  try {
    parseBindAddress(text);
    return text;
  } catch (error) {
    throw new InvalidArgumentError(`${errorMessage(error)}.`);
  }
}

/** `:8443` or `host:8443`, for what cannot be turned off. */
export function listenAddress(text: string): string {
  if (isAddress(text)) return text;
  throw new InvalidArgumentError('It is no address to listen on: use ":8443" or "host:8443".');
}

function isAddress(text: string): boolean {
  try {
    return parseBindAddress(text) !== undefined;
  } catch {
    return false;
  }
}
