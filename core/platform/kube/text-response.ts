import type { Dispatcher } from 'undici';

/** An answer of the API server, read whole. */
export interface TextResponse {
  readonly status: number;
  readonly headers: Dispatcher.ResponseData['headers'];
  readonly text: string;
}
