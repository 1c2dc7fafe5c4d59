import { classNameSchema } from '../../../api/v1alpha1/bundle.ts';
import { isThisMachine } from '../../platform/net/index.ts';

export interface ClassAddressOptions {
  readonly className: string;
  /** Where `v1/class` and the others are below. */
  readonly url: string;
  /** Whether `http://` may leave this machine. */
  readonly plainHttp?: boolean | undefined;
}

/** Who serves a class. */
export interface ClassAddress {
  readonly className: string;
  /** Ends in a slash. */
  readonly url: URL;
  /** For messages: `class "acme" at https://acme.example`. */
  readonly name: string;
}

/** @throws Error that says what is wrong with name or URL, without quoting what may be a password */
export function classAddress(options: ClassAddressOptions): ClassAddress {
  const { className } = options;
  const url = URL.parse(options.url);
  const problem = classNameSchema.safeParse(className).success
    ? problemOf(url, options)
    : 'a class name has lower-case letters, digits and "-" only';
  if (problem !== undefined || url === null) {
    throw new Error(`--provisioner-url for class ${JSON.stringify(className)}: ${problem}`);
  }
  url.pathname = url.pathname.replace(/\/*$/, '/');
  return { className, url, name: `class "${className}" at ${url.href.replace(/\/$/, '')}` };
}

function problemOf(url: URL | null, options: ClassAddressOptions): string | undefined {
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    return 'the URL must begin with https:// or http://';
  }
  if (url.username + url.password !== '') {
    return 'the URL must not hold credentials: put them into a folder, and name it in --provisioner-url-credentials';
  }
  if (url.search + url.hash !== '') {
    return 'the URL must not have a "?" or "#": paths are put behind it';
  }
  if (url.protocol === 'http:' && options.plainHttp !== true && !isThisMachine(url)) {
    return `http:// is for servers on this machine, such as a sidecar: use https:// for ${url.host}, or allow it with --provisioner-url-plain-http=${options.className}`;
  }
  return undefined;
}
