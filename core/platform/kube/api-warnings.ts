import type { HttpTransport } from './transport.ts';

/** Hands on what the API server, or an admission webhook, warns of in its answers (RFC 7234, code 299). */
export function telling(transport: HttpTransport, tell: (warning: string) => void): HttpTransport {
  return {
    send: async (request, timeout) => {
      const response = await transport.send(request, timeout);
      for (const warning of warningsIn(response.headers['warning'])) tell(warning);
      return response;
    },
    stream: async (request, timeout) => await transport.stream(request, timeout),
  };
}

/** Texts of the headers, each `299 - "text"`; several may stand in one, divided by commas. */
function warningsIn(headers: string | readonly string[] = []): readonly string[] {
  return [headers]
    .flat()
    .flatMap((header) => [...header.matchAll(/299 [^\s"]+ "((?:[^"\\]|\\.)*)"/g)])
    .map(([, text = '']) => text.replaceAll(/\\(.)/g, '$1'));
}
