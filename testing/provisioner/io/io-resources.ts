import type { IoUse } from './io-use.ts';

/** What Node calls the resources (async_hooks) with which it waits for the system. */
export const ioResources: Readonly<Record<string, IoUse['kind']>> = {
  FSREQCALLBACK: 'file',
  FSREQPROMISE: 'file',
  FILEHANDLE: 'file',
  FILEHANDLECLOSEREQ: 'file',
  DIRHANDLE: 'file',
  FSEVENTWRAP: 'file',
  STATWATCHER: 'file',
  GETADDRINFOREQWRAP: 'network',
  GETNAMEINFOREQWRAP: 'network',
  QUERYWRAP: 'network',
  TCPWRAP: 'network',
  TCPCONNECTWRAP: 'network',
  TCPSERVERWRAP: 'network',
  TLSWRAP: 'network',
  UDPWRAP: 'network',
  UDPSENDWRAP: 'network',
  HTTPCLIENTREQUEST: 'network',
  HTTP2SESSION: 'network',
  PIPECONNECTWRAP: 'network',
  PIPESERVERWRAP: 'network',
  PROCESSWRAP: 'process',
};
