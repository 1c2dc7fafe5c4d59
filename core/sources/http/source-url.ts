import { TerminalError } from '../../errors.ts';

/** What `http.url` says; not quoted where refused, as it may hold a password. */
export function sourceURL(text: string): URL {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new TerminalError('bundle source http.url must be a URL with https:// or http://');
  }
  if (url.username !== '' || url.password !== '') {
    throw new TerminalError(
      'bundle source http.url must not hold credentials: put them as username and password into a Secret, and name it in http.auth.secret',
    );
  }
  return url;
}
