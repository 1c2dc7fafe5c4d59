import type { HttpClient } from 'isomorphic-git';

/** How isomorphic-git reaches one repository: in its words, always over HTTP. */
export interface GitTransport extends HttpClient {
  /** What isomorphic-git is told to be the repository's URL; without credentials. */
  readonly url: string;
  /** The version of git's protocol to list refs with. */
  readonly protocolVersion: 1 | 2;
  /** What went wrong below git's protocol: isomorphic-git takes a failed stream for a finished one. */
  readonly failure: Error | undefined;
  close(): Promise<void>;
}
