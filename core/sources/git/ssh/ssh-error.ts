import { connectionProblem } from '../../../platform/net/index.ts';
import type { SSHAddress } from '../repository-address.ts';

interface FailedConnection {
  readonly address: Pick<SSHAddress, 'user'>;
  readonly timeouts: { readonly handshake: number };
  readonly secretName: string;
}

/** An error of ssh2 in the words that users of git know. */
export function sshError(
  error: Error & { readonly level?: string },
  { address, timeouts, secretName }: FailedConnection,
): Error {
  switch (error.level) {
    case 'client-socket':
      return new Error(connectionProblem(error), { cause: error });
    case 'client-timeout':
      return new Error(
        `ssh: handshake failed: the server did not let us in within ${timeouts.handshake / 1000} seconds`,
        { cause: error },
      );
    case 'client-authentication':
      return new Error(
        `ssh: handshake failed: ssh: unable to authenticate: the server does not take key "ssh-privatekey" of Secret "${secretName}" for user "${address.user}"`,
        { cause: error },
      );
    default:
      return new Error(`ssh: ${printable(error.message)}`, { cause: error });
  }
}

/** What a server says, as part of a message: one line of no more than 200 characters. */
export function printable(text: string): string {
  const line = text.replace(/[^\p{L}\p{N}\p{P}\p{S}]+/gu, ' ').trim();
  return line.length > 200 ? `${line.slice(0, 199)}…` : line;
}
