import type { Response } from 'express';

/** An error in the format of Go's http.Error: plain text and a newline. */
export function sendText(response: Response, status: number, text: string): void {
  response
    .status(status)
    .set({ 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' })
    .send(`${text}\n`);
}
