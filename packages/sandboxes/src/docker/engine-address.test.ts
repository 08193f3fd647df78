import { describe, expect, test } from "vitest";
import { engineAddress, showAddress } from "./engine-address.ts";

const none = () => false;

describe("the address of the engine", () => {
  test("is what the options say before all else", () => {
    const env = { DOCKER_HOST: "unix:///other.sock" };
    expect(engineAddress({ socketPath: "/a.sock" }, env, none)).toEqual({ socketPath: "/a.sock" });
    expect(engineAddress({ host: "tcp://box:1234" }, env, none)).toEqual({
      protocol: "http",
      host: "box",
      port: 1234,
    });
  });

  test("is what DOCKER_HOST says before any socket", () => {
    const everything = () => true;
    expect(engineAddress({}, { DOCKER_HOST: "unix:///podman.sock" }, everything)).toEqual({
      socketPath: "/podman.sock",
    });
    expect(engineAddress({}, { DOCKER_HOST: "" }, everything)).toEqual({
      socketPath: "/var/run/docker.sock",
    });
  });

  test.each([
    ["/var/run/docker.sock", "/var/run/docker.sock"],
    ["/home/me/.docker/run/docker.sock", "/home/me/.docker/run/docker.sock"],
    ["/run/user/1000/podman/podman.sock", "/run/user/1000/podman/podman.sock"],
    ["/run/podman/podman.sock", "/run/podman/podman.sock"],
    ["/none", "/var/run/docker.sock"],
  ])("with %s there is %s", (there, socketPath) => {
    const env = { HOME: "/home/me", XDG_RUNTIME_DIR: "/run/user/1000" };
    expect(engineAddress({}, env, (path) => path === there)).toEqual({ socketPath });
  });

  test("has TLS with the certificates Docker's own variables name", () => {
    const env = { DOCKER_HOST: "tcp://[::1]", DOCKER_TLS_VERIFY: "1", DOCKER_CERT_PATH: "/certs" };
    const address = engineAddress({}, env, none);
    expect(address).toEqual({ protocol: "https", host: "::1", port: 2376, certificates: "/certs" });
    expect(showAddress({ protocol: "http", host: "box", port: 1 })).toBe("http://box:1");
  });

  test.each(["ssh://me@box", "box:1234", "tcp://", "file:///x"])("%s is refused, with what to do", (host) => {
    expect(() => engineAddress({ host }, {}, none)).toThrow(/names no container engine.*unix:/);
  });
});
